import { formatNumber } from '../../lib/http/pages/format.ts'
import { RACK, rightOf } from './dimensions.ts'
import type { PatchGlobal } from './patch.ts'
import type { Placed } from './placement.ts'
import type { PlacedRack } from './rack.ts'
import { box, circle, cutLabel, jack, label, link, path, type Shape } from './shapes.ts'
import { cutText } from './text.ts'

const MARGIN = 16
/** Between a value and its jack. */
const END_MARGIN = 18
const BETWEEN = 10
/** Least width that a key leaves for its value. */
const VALUE_ROOM = 54

/** Returns the text beside a global in the rack; never the value of a secret. */
export const describeValue = ({ source, value, uses }: PatchGlobal): string => {
  if (uses === 0) return 'not used'
  return source === 'secret' ? 'hidden' : value
}

const drawRow = (x: number, edge: number, { row, y }: Placed<PatchGlobal>, isWired: boolean): readonly Shape[] => {
  const room = edge - END_MARGIN - x - MARGIN
  const key = cutText(row.key, 'port', room - VALUE_ROOM - BETWEEN)
  return [
    label(x + MARGIN, y + 5, 'port', key.text),
    cutLabel(edge - END_MARGIN, y + 4, 'soft end', describeValue(row), room - key.width - BETWEEN),
    isWired ? jack(edge, y, row.source) : circle('hole', edge, y, 5),
  ]
}

export const drawRack = (placed: PlacedRack, wiredKeys: ReadonlySet<string>): readonly Shape[] => {
  const { rack, box: rackBox, rows, moreY } = placed
  const { x, y } = rackBox
  return [
    link(rack.href, 'Globals', [box(rackBox), label(x + MARGIN, y + 25, 'head', 'Globals')]),
    path('rule', `M${x} ${y + RACK.head}H${rightOf(rackBox)}`),
    ...rows.flatMap(row => drawRow(x, rightOf(rackBox), row, wiredKeys.has(row.row.key))),
    ...(moreY === undefined ? [] : [label(x + MARGIN, moreY + 4, 'soft', `${formatNumber(rack.hiddenGlobals)} more`)]),
  ]
}
