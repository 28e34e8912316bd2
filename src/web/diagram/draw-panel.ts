import { formatNumber } from '../../lib/http/pages/format.ts'
import type { WiredRow } from './diagram-content.ts'
import { PANEL, rightOf } from './dimensions.ts'
import type { Placed, PlacedPanel } from './placement.ts'
import { box, circle, cutLabel, jack, label, lamp, link, path, type Shape } from './shapes.ts'
import { cutText } from './text.ts'

const MARGIN = 20
/** Widest text to the right of the name. */
const META_ROOM = 190
const LAMP_ROOM = 20
/** Less than half a row: stacks show a count between the two sides. */
const PORT_ROOM = 168
const COUNT_AT = 190

const drawHead = ({ panel, box: { x, y, width, height } }: PlacedPanel): readonly Shape[] => {
  const { name, href, meta, isFailed } = panel
  const cutMeta = cutText(meta, 'sans', META_ROOM)
  const room = width - 2 * MARGIN - cutMeta.width - (isFailed ? LAMP_ROOM : 0) - 12
  const cutName = cutText(name, 'name', room)
  return [
    link(href, name, [
      box({ x, y, width, height }),
      label(x + MARGIN, y + 24, 'name', cutName.text),
      ...(meta === '' ? [] : [label(x + width - MARGIN, y + 24, isFailed ? 'fault end' : 'soft end', cutMeta.text)]),
      ...(isFailed ? [lamp(x + MARGIN + cutName.width + 14, y + 19.5, 'failed')] : []),
    ]),
    ...(height > PANEL.head ? [path('rule', `M${x + 1} ${y + PANEL.head}h${width - 2}`)] : []),
  ]
}

const drawLeft = (x: number, { row, y }: Placed<WiredRow>): readonly Shape[] => [
  cutLabel(x + MARGIN, y + 4, 'port', row.name, PORT_ROOM),
  ...(row.count === undefined ? [] : [label(x + COUNT_AT, y + 4, 'soft', `×${formatNumber(row.count)}`)]),
  row.source === 'missing' ? circle('hole', x, y, 7, { 'data-state': 'missing' }) : jack(x, y, row.source),
]

/** Draws a tool or a stack, with its sockets. */
export const drawPanel = (placed: PlacedPanel): readonly Shape[] => {
  const { panel, box: panelBox, left, right, moreY } = placed
  const edge = rightOf(panelBox)
  return [
    ...drawHead(placed),
    ...left.flatMap(row => drawLeft(panelBox.x, row)),
    ...right.flatMap(({ row, y }) => [
      cutLabel(edge - MARGIN, y + 4, 'port end', row.name, PORT_ROOM),
      jack(edge, y, 'exposed'),
    ]),
    ...(moreY === undefined
      ? []
      : [label(panelBox.x + MARGIN, moreY + 4, 'soft', `and ${formatNumber(panel.hiddenRows)} more`)]),
  ]
}
