import { placeCallers } from './callers.ts'
import { condense } from './condense.ts'
import { DETAILS } from './detail.ts'
import type { DiagramContent } from './diagram-content.ts'
import { CALLER, CALLERS, PANEL, RACK, type Rect, rightOf, SOURCE_HEIGHT, SOURCES } from './dimensions.ts'
import { drawCallers, drawRack, drawSource } from './draw.ts'
import type { Patch } from './patch.ts'
import { placeRack } from './rack.ts'
import { circle, label, path, rect, type Shape } from './shapes.ts'

const GHOST_TOOLS: Rect = { x: 396, y: 1, width: 360, height: 154 }
const GHOST_SOURCE: Rect = { x: 1, y: 41, width: 230, height: 74 }
const GHOST_CALLERS: Rect = { x: 921, y: 41, width: 230, height: 74 }

/** Draws the dashed outline of a box for something that does not exist yet. */
const ghost = (box: Rect, title: string, text: string): readonly Shape[] => [
  rect('ghost', box, { rx: 8 }),
  label(box.x + 20, box.y + 33, 'head', title),
  label(box.x + 20, box.y + 55, 'soft', text),
]

const hole = (x: number, y: number): Shape => circle('hole', x, y, 6.5)

/** Draws a cable whose plug hangs in front of a missing socket. */
const looseCable = (x: number, y: number, side: 'left' | 'right'): readonly Shape[] =>
  side === 'left'
    ? [path('loose', `M${x + 8} ${y}C${x + 69} ${y} 286 132 342 128`), circle('plug', 345, 128, 5)]
    : [path('loose', `M${x - 8} ${y}C${x - 75} ${y} 868 138 812 132`), circle('plug', 809, 132, 5)]

type Part = { shapes: readonly Shape[]; end: number }

const drawSources = ({ sources, rack }: DiagramContent): Part => {
  if (sources.length === 0 && rack.rows.length === 0) {
    const [x, y] = [rightOf(GHOST_SOURCE), GHOST_SOURCE.y + GHOST_SOURCE.height / 2]
    const box = ghost(GHOST_SOURCE, 'An API or MCP server', 'what your tools call')
    return { shapes: [...box, ...looseCable(x, y, 'left'), hole(x, y)], end: 0 }
  }
  const placed = sources.map((source, index) => {
    const box = { ...SOURCES, y: index * (SOURCE_HEIGHT + PANEL.gap), height: SOURCE_HEIGHT }
    return { source, box, frame: undefined, panels: [] }
  })
  const last = placed.at(-1)?.box
  const placedRack = placeRack(rack, placed, 0)
  const rackEnd = placedRack === undefined ? 0 : placedRack.box.y + placedRack.box.height
  const y = sources.length === 0 ? RACK.head / 2 : SOURCE_HEIGHT / 2
  return {
    shapes: [
      ...looseCable(rightOf(SOURCES), y, 'left'),
      ...placed.map(drawSource),
      ...(placedRack === undefined ? [] : drawRack(placedRack, new Set())),
      hole(rightOf(SOURCES), y),
    ],
    end: Math.max(rackEnd, last === undefined ? 0 : last.y + last.height),
  }
}

const drawCallersOrGhost = ({ callers }: DiagramContent, hasCallers: boolean): Part => {
  if (!hasCallers) {
    const y = GHOST_CALLERS.y + GHOST_CALLERS.height / 2
    const box = ghost(GHOST_CALLERS, 'Claude, Cursor, …', 'the clients you allow')
    return { shapes: [...box, ...looseCable(GHOST_CALLERS.x, y, 'right'), hole(GHOST_CALLERS.x, y)], end: 0 }
  }
  const placed = placeCallers(callers, [], 0)
  return {
    shapes: [...looseCable(CALLERS.x, CALLER.jack, 'right'), ...drawCallers(placed)],
    end: placed.box.y + placed.box.height,
  }
}

/** Draws a server without tools. Existing parts are solid, and missing parts are dashed outlines. */
export const drawEmpty = (patch: Patch): { shapes: readonly Shape[]; height: number; content: DiagramContent } => {
  const content = condense(patch, DETAILS[0])
  const sources = drawSources(content)
  const callers = drawCallersOrGhost(content, patch.callers.list.length > 0)
  const { x, y, height } = GHOST_TOOLS
  return {
    shapes: [
      ...ghost(GHOST_TOOLS, 'Your tools', 'each parameter is a socket'),
      ...sources.shapes,
      ...callers.shapes,
      ...[82, 106, 130].map(at => hole(x, at)),
      ...[82, 106].map(at => hole(rightOf(GHOST_TOOLS), at)),
    ],
    height: Math.max(y + height + 1, sources.end, callers.end),
    content,
  }
}
