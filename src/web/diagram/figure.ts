import { formatCount } from '../../lib/kernel/format.ts'
import { condense } from './condense.ts'
import { DETAILS, type Detail, MAX_STACKED_HEIGHT } from './detail.ts'
import type { DiagramContent } from './diagram-content.ts'
import { WIDTH } from './dimensions.ts'
import { draw } from './draw.ts'
import { drawEmpty } from './draw-empty.ts'
import { type Layout, layOut } from './layout.ts'
import type { Patch } from './patch.ts'
import type { Shape } from './shapes.ts'
import { plainText } from './text.ts'
import { toWiring, type Wiring } from './wiring.ts'

/** Data for `views/parts/patch.eta`: the diagram, and the same content as a list. */
export type PatchFigure = {
  role: 'group' | 'img'
  label: string
  viewBox: string
  shapes: readonly Shape[]
  /** The content as a list. Undefined if there is nothing to list yet. */
  wiring: Wiring | undefined
}

const labelOf = ({ title, toolCount, isStacked }: DiagramContent): string =>
  isStacked
    ? `Patch diagram of ${plainText(title)}, ${formatCount(toolCount, 'tool')} grouped by source. The Bindings tab lists every parameter.`
    : `Patch diagram of ${plainText(title)}. The same wiring follows as a list.`

/** Space around the diagram, for the outlines of boxes at its edges. */
const MARGIN = 2

const viewBoxOf = (height: number): string =>
  `${-MARGIN} ${-MARGIN} ${WIDTH + 2 * MARGIN} ${Math.ceil(height) + 2 * MARGIN}`

type Arrangement = { content: DiagramContent; layout: Layout }

const arrangeIn = (patch: Patch, detail: Detail): Arrangement => {
  const content = condense(patch, detail)
  return { content, layout: layOut(content) }
}

/** Lays out the patch in the finest detail that keeps the diagram within its maximum height. */
const arrange = (patch: Patch): Arrangement => {
  const [finest, ...coarser] = DETAILS
  let arranged = arrangeIn(patch, finest)
  for (const detail of coarser) {
    if (!arranged.content.isStacked || arranged.layout.height <= MAX_STACKED_HEIGHT) break
    arranged = arrangeIn(patch, detail)
  }
  return arranged
}

const toEmptyFigure = (patch: Patch): PatchFigure => {
  const { shapes, height, content } = drawEmpty(patch)
  const viewBox = viewBoxOf(height)
  const hasParts = content.sources.length > 0 || content.rack.rows.length > 0 || patch.callers.list.length > 0
  if (!hasParts) {
    const label = 'Empty patch diagram: no sources, tools or callers yet'
    return { role: 'img', label, viewBox, shapes, wiring: undefined }
  }
  const label = `Patch diagram of ${plainText(patch.title)}, which has no tools yet. The same content follows as a list.`
  return { role: 'group', label, viewBox, shapes, wiring: toWiring(content) }
}

/** Builds a server's patch diagram and the list of its content. Equal patches produce equal figures. */
export const toPatchFigure = (patch: Patch): PatchFigure => {
  if (patch.groups.every(({ tools }) => tools.length === 0)) return toEmptyFigure(patch)
  const { content, layout } = arrange(patch)
  return {
    role: 'group',
    label: labelOf(content),
    viewBox: viewBoxOf(layout.height),
    shapes: draw(layout),
    wiring: toWiring(content),
  }
}
