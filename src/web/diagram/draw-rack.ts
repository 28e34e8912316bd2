import { formatNumber } from '../../lib/http/pages/format.ts'
import { RACK, rightOf } from './measures.ts'
import type { PatchGlobal } from './patch.ts'
import type { PlacedRack } from './rack.ts'
import type { Placed } from './rows.ts'
import { box, circle, cutWords, jack, link, path, type Shape, words } from './shapes.ts'
import { cutText } from './text.ts'

const MARGIN = 16
/** From a value to the jack beside it. */
const END_MARGIN = 18
const BETWEEN = 10
/** What a key leaves for the value. */
const VALUE_ROOM = 54

/** What the rack says of a global: that nothing uses it, that it is sealed, or what it is. */
export const valueInWords = ({ source, value, uses }: PatchGlobal): string => {
  if (uses === 0) return 'not used'
  return source === 'secret' ? 'sealed' : value
}

const drawRow = (x: number, edge: number, { row, y }: Placed<PatchGlobal>, isWired: boolean): readonly Shape[] => {
  const room = edge - END_MARGIN - x - MARGIN
  const key = cutText(row.key, 'port', room - VALUE_ROOM - BETWEEN)
  return [
    words(x + MARGIN, y + 5, 'port', key.text),
    cutWords(edge - END_MARGIN, y + 4, 'soft end', valueInWords(row), room - key.width - BETWEEN),
    isWired ? jack(edge, y, row.source) : circle('hole', edge, y, 5),
  ]
}

export const drawRack = (placed: PlacedRack, wiredKeys: ReadonlySet<string>): readonly Shape[] => {
  const { rack, box: rackBox, rows, moreY } = placed
  const { x, y } = rackBox
  return [
    link(rack.href, 'Globals', [box(rackBox), words(x + MARGIN, y + 25, 'head', 'Globals')]),
    path('rule', `M${x} ${y + RACK.head}H${rightOf(rackBox)}`),
    ...rows.flatMap(row => drawRow(x, rightOf(rackBox), row, wiredKeys.has(row.row.key))),
    ...(moreY === undefined ? [] : [words(x + MARGIN, moreY + 4, 'soft', `${formatNumber(rack.hiddenGlobals)} more`)]),
  ]
}
