import { formatCount } from '../../lib/http/pages/format.ts'
import { arrange } from './arrange.ts'
import { draw } from './draw.ts'
import { drawEmpty } from './draw-empty.ts'
import { WIDTH } from './measures.ts'
import type { Patch } from './patch.ts'
import type { Shape } from './shapes.ts'
import type { Sheet } from './sheet.ts'
import { plainText } from './text.ts'
import { toWiring, type Wiring } from './wiring.ts'

/** What `views/parts/patch.eta` draws: the picture, and below it the same as a list. */
export type PatchFigure = {
  role: 'group' | 'img'
  label: string
  viewBox: string
  shapes: readonly Shape[]
  /** Undefined where nothing is there yet to be listed. */
  wiring: Wiring | undefined
}

const labelOf = ({ title, toolCount, isGathered }: Sheet): string =>
  isGathered
    ? `Patch diagram of ${plainText(title)}, ${formatCount(toolCount, 'tool')} gathered by source. The Bindings tab lists every parameter.`
    : `Patch diagram of ${plainText(title)}. The same wiring follows as a list.`

/** Room for the lines of boxes at the edges. */
const MARGIN = 2

const viewBoxOf = (height: number): string =>
  `${-MARGIN} ${-MARGIN} ${WIDTH + 2 * MARGIN} ${Math.ceil(height) + 2 * MARGIN}`

const toEmptyFigure = (patch: Patch): PatchFigure => {
  const { shapes, height, sheet } = drawEmpty(patch)
  const viewBox = viewBoxOf(height)
  const hasParts = sheet.sources.length > 0 || sheet.rack.rows.length > 0 || patch.callers.list.length > 0
  if (!hasParts) {
    const label = 'An empty patch: no source, no tool and no caller is connected yet'
    return { role: 'img', label, viewBox, shapes, wiring: undefined }
  }
  const label = `Patch diagram of ${plainText(patch.title)}, without a tool yet. What there is follows as a list.`
  return { role: 'group', label, viewBox, shapes, wiring: toWiring(sheet) }
}

/** The patch diagram of a server, and its words: the same for the same patch. */
export const toPatchFigure = (patch: Patch): PatchFigure => {
  if (patch.groups.every(({ tools }) => tools.length === 0)) return toEmptyFigure(patch)
  const { sheet, layout } = arrange(patch)
  return {
    role: 'group',
    label: labelOf(sheet),
    viewBox: viewBoxOf(layout.height),
    shapes: draw(layout),
    wiring: toWiring(sheet),
  }
}
