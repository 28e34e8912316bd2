import { formatNumber } from '../../lib/http/pages/format.ts'
import { PANEL, rightOf } from './measures.ts'
import type { Placed, PlacedPanel } from './rows.ts'
import { box, circle, cutWords, jack, lamp, link, path, type Shape, words } from './shapes.ts'
import type { WiredRow } from './sheet.ts'
import { cutText } from './text.ts'

const MARGIN = 20
/** What is beside the name gets at most this much. */
const META_ROOM = 190
const LAMP_ROOM = 20
/** Each side of a row gets less than half: in a stack a count stands between them. */
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
      words(x + MARGIN, y + 24, 'name', cutName.text),
      ...(meta === '' ? [] : [words(x + width - MARGIN, y + 24, isFailed ? 'fault end' : 'soft end', cutMeta.text)]),
      ...(isFailed ? [lamp(x + MARGIN + cutName.width + 14, y + 19.5, 'failed')] : []),
    ]),
    ...(height > PANEL.head ? [path('rule', `M${x + 1} ${y + PANEL.head}h${width - 2}`)] : []),
  ]
}

const drawLeft = (x: number, { row, y }: Placed<WiredRow>): readonly Shape[] => [
  cutWords(x + MARGIN, y + 4, 'port', row.name, PORT_ROOM),
  ...(row.count === undefined ? [] : [words(x + COUNT_AT, y + 4, 'soft', `×${formatNumber(row.count)}`)]),
  row.source === 'missing' ? circle('hole', x, y, 7, { 'data-state': 'missing' }) : jack(x, y, row.source),
]

/** A tool, or a stack of them, with its sockets. */
export const drawPanel = (placed: PlacedPanel): readonly Shape[] => {
  const { panel, box: panelBox, left, right, moreY } = placed
  const edge = rightOf(panelBox)
  return [
    ...drawHead(placed),
    ...left.flatMap(row => drawLeft(panelBox.x, row)),
    ...right.flatMap(({ row, y }) => [
      cutWords(edge - MARGIN, y + 4, 'port end', row.name, PORT_ROOM),
      jack(edge, y, 'exposed'),
    ]),
    ...(moreY === undefined
      ? []
      : [words(panelBox.x + MARGIN, moreY + 4, 'soft', `and ${formatNumber(panel.hiddenRows)} more`)]),
  ]
}
