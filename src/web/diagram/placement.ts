import type { Panel, Source } from './diagram-content.ts'
import {
  FRAME,
  GROUP_GAP,
  PANEL,
  RACK,
  type Rect,
  ROW,
  SOURCE_HEIGHT,
  SOURCES,
  STACK_OFFSET,
  TOOLS,
} from './dimensions.ts'

/** `y` is the vertical middle of the row. */
export type Placed<R> = { row: R; y: number }

export type PlacedSource = {
  source: Source
  box: Rect
  /** Undefined if the source has no tools. */
  frame: Rect | undefined
  panels: readonly PlacedPanel[]
}

const placePanel = (panel: Panel, y: number) => {
  const yOf = (index: number): number => y + PANEL.head + PANEL.beforeRows + index * ROW + ROW / 2
  const place = <R>(row: R, index: number): Placed<R> => ({ row, y: yOf(index) })
  const { left, right, hiddenRows } = panel
  const rows = Math.max(left.length + (hiddenRows > 0 ? 1 : 0), right.length)
  return {
    panel,
    box: { ...TOOLS, y, height: PANEL.head + (rows === 0 ? 0 : PANEL.beforeRows + rows * ROW + PANEL.foot) },
    left: left.map(place),
    right: right.map(place),
    /** The y of the middle of the row that shows the number of remaining rows. */
    moreY: hiddenRows > 0 ? yOf(left.length) : undefined,
  }
}
export type PlacedPanel = ReturnType<typeof placePanel>

/** Returns the height of the edges visible below a stack. */
const stackDepth = ({ isStack }: Panel): number => (isStack ? 2 * STACK_OFFSET : 0)

const placePanels = (panels: readonly Panel[], from: number): { placed: readonly PlacedPanel[]; end: number } => {
  const placed: PlacedPanel[] = []
  let y = from
  for (const panel of panels) {
    const one = placePanel(panel, y)
    placed.push(one)
    y += one.box.height + stackDepth(panel) + PANEL.gap
  }
  return { placed, end: y - PANEL.gap }
}

/** Offset that moves a single tool down to the level of the rack, so that all its cables are straight. */
const LEVEL_WITH_RACK = SOURCE_HEIGHT + RACK.margin + RACK.head - PANEL.head - PANEL.beforeRows

const isSingleTool = (sources: readonly Source[]): boolean =>
  sources.length === 1 && sources[0]?.panels.length === 1 && !sources[0].panels[0]?.isStack

/** Places the sources, with their frames and panels, from top to bottom. */
export const placeSources = (sources: readonly Source[], hasRack: boolean): readonly PlacedSource[] => {
  const padding = hasRack && isSingleTool(sources) ? LEVEL_WITH_RACK : FRAME.padding
  const placed: PlacedSource[] = []
  let y = 0
  for (const source of sources) {
    const panels = placePanels(source.panels, y + padding)
    const height = source.panels.length === 0 ? 0 : panels.end + FRAME.padding - y
    placed.push({
      source,
      box: { ...SOURCES, y, height: SOURCE_HEIGHT },
      frame: height === 0 ? undefined : { x: FRAME.x, width: FRAME.width, y, height },
      panels: panels.placed,
    })
    y += Math.max(height, SOURCE_HEIGHT) + GROUP_GAP
  }
  return placed
}
