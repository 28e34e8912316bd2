import { formatNumber } from '../../lib/kernel/format.ts'
import type { PlacedCallers } from './callers.ts'
import type { WiredRow } from './diagram-content.ts'
import { CALLER, PANEL, RACK, rightOf, STUB, TOOLS } from './dimensions.ts'
import { type Cable, type Gap, type Layout, stackEdgesOf, type Tag } from './layout.ts'
import type { PatchGlobal } from './patch.ts'
import type { Placed, PlacedPanel, PlacedSource } from './placement.ts'
import type { PlacedRack } from './rack.ts'
import { pathOf } from './route.ts'
import { box, circle, cutLabel, group, jack, label, lamp, link, path, rect, type Shape } from './shapes.ts'
import { cutText } from './text.ts'

/** Draws a secret's cable as a double line, like a shielded cable. */
const drawWire = (d: string, source: Cable['source'] | Tag['source']): readonly Shape[] => [
  path('cable', d, { 'data-source': source }),
  ...(source === 'secret' ? [path('core', d)] : []),
]

/** Draws a cable above a halo in the background color, so that one cable visibly crosses over another. */
const drawCable = ({ source, branches }: Cable): readonly Shape[] => {
  const d = branches.map(pathOf).join('')
  return [path('halo', d), ...drawWire(d, source)]
}

const drawTag = ({ source, text, box: { x, y, width, height }, y: middle }: Tag): readonly Shape[] => [
  ...drawWire(`M${TOOLS.x - STUB} ${middle}H${TOOLS.x}`, source),
  group({ 'data-source': source }, [
    rect('tag', { x, y, width, height }, { rx: 4 }),
    {
      tag: 'text',
      attributes: { x: x + width / 2, y: middle + 4, class: 'value', 'text-anchor': 'middle' },
      text,
    },
  ]),
]

const drawGap = ({ text, y }: Gap): readonly Shape[] => [
  path('gap', `M${TOOLS.x - STUB} ${y}H${TOOLS.x - 9}`),
  label(TOOLS.x - STUB - 6, y + 4, 'fault end', text),
]

export const drawSource = ({ source: { name, href, health, state }, box: bounds }: PlacedSource): Shape => {
  const { x, y, width } = bounds
  return link(href, name, [
    box(bounds),
    cutLabel(x + 16, y + 27, 'head', name, width - 32),
    lamp(x + 20, y + 45, state),
    cutLabel(x + 31, y + 49, 'soft', health, width - 45),
  ])
}

export const drawCallers = ({ callers, box: bounds, jackY, rows }: PlacedCallers): readonly Shape[] => {
  const { x, y, width } = bounds
  return [
    link(callers.href, 'Callers', [
      box(bounds),
      label(x + 22, y + 29, 'head', 'Callers'),
      label(x + width - 16, y + 29, 'soft end', callers.tier),
    ]),
    path('rule', `M${x + 1} ${y + CALLER.head}h${width - 2}`),
    ...rows.flatMap(({ row: { name, activity, state }, y: middle }) => [
      lamp(x + 26, middle, state),
      cutLabel(x + 40, middle + 4, 'head', name, width - 50),
      cutLabel(x + 40, middle + 20, 'soft', activity, width - 50),
    ]),
    jackY === undefined ? circle('hole', x, y + CALLER.jack, 5) : jack(x, jackY, 'exposed'),
  ]
}

const PANEL_MARGIN = 20
/** Maximum width of the text to the right of the panel's name. */
const META_ROOM = 190
const LAMP_ROOM = 20
/** Maximum width of a port's text. Less than half of a row, because stacks show a count between the two sides. */
const PORT_ROOM = 168
const COUNT_AT = 190

const drawHead = ({ panel, box: { x, y, width, height } }: PlacedPanel): readonly Shape[] => {
  const { name, href, meta, isFailed } = panel
  const cutMeta = cutText(meta, 'sans', META_ROOM)
  const room = width - 2 * PANEL_MARGIN - cutMeta.width - (isFailed ? LAMP_ROOM : 0) - 12
  const cutName = cutText(name, 'name', room)
  return [
    link(href, name, [
      box({ x, y, width, height }),
      label(x + PANEL_MARGIN, y + 24, 'name', cutName.text),
      ...(meta === ''
        ? []
        : [label(x + width - PANEL_MARGIN, y + 24, isFailed ? 'fault end' : 'soft end', cutMeta.text)]),
      ...(isFailed ? [lamp(x + PANEL_MARGIN + cutName.width + 14, y + 19.5, 'failed')] : []),
    ]),
    ...(height > PANEL.head ? [path('rule', `M${x + 1} ${y + PANEL.head}h${width - 2}`)] : []),
  ]
}

const drawLeft = (x: number, { row, y }: Placed<WiredRow>): readonly Shape[] => [
  cutLabel(x + PANEL_MARGIN, y + 4, 'port', row.name, PORT_ROOM),
  ...(row.count === undefined ? [] : [label(x + COUNT_AT, y + 4, 'soft', `×${formatNumber(row.count)}`)]),
  row.source === 'missing' ? circle('hole', x, y, 7, { 'data-state': 'missing' }) : jack(x, y, row.source),
]

/** Draws a tool or a stack, with its sockets. */
const drawPanel = (placed: PlacedPanel): readonly Shape[] => {
  const { panel, box: panelBox, left, right, moreY } = placed
  const edge = rightOf(panelBox)
  return [
    ...drawHead(placed),
    ...left.flatMap(row => drawLeft(panelBox.x, row)),
    ...right.flatMap(({ row, y }) => [
      cutLabel(edge - PANEL_MARGIN, y + 4, 'port end', row.name, PORT_ROOM),
      jack(edge, y, 'exposed'),
    ]),
    ...(moreY === undefined
      ? []
      : [label(panelBox.x + PANEL_MARGIN, moreY + 4, 'soft', `and ${formatNumber(panel.hiddenRows)} more`)]),
  ]
}

const RACK_MARGIN = 16
/** Space between a value and the jack beside it. */
const VALUE_MARGIN = 18
const BETWEEN = 10
/** Minimum width left for the value beside a key. */
const VALUE_ROOM = 54

/** Returns the text beside a global in the rack. Never returns the value of a secret. */
export const describeValue = ({ source, value, uses }: PatchGlobal): string => {
  if (uses === 0) return 'not used'
  return source === 'secret' ? 'hidden' : value
}

const drawGlobal = (x: number, edge: number, { row, y }: Placed<PatchGlobal>, isWired: boolean): readonly Shape[] => {
  const room = edge - VALUE_MARGIN - x - RACK_MARGIN
  const key = cutText(row.key, 'port', room - VALUE_ROOM - BETWEEN)
  return [
    label(x + RACK_MARGIN, y + 5, 'port', key.text),
    cutLabel(edge - VALUE_MARGIN, y + 4, 'soft end', describeValue(row), room - key.width - BETWEEN),
    isWired ? jack(edge, y, row.source) : circle('hole', edge, y, 5),
  ]
}

export const drawRack = (placed: PlacedRack, wiredKeys: ReadonlySet<string>): readonly Shape[] => {
  const { rack, box: rackBox, rows, moreY } = placed
  const { x, y } = rackBox
  return [
    link(rack.href, 'Globals', [box(rackBox), label(x + RACK_MARGIN, y + 25, 'head', 'Globals')]),
    path('rule', `M${x} ${y + RACK.head}H${rightOf(rackBox)}`),
    ...rows.flatMap(row => drawGlobal(x, rightOf(rackBox), row, wiredKeys.has(row.row.key))),
    ...(moreY === undefined
      ? []
      : [label(x + RACK_MARGIN, moreY + 4, 'soft', `${formatNumber(rack.hiddenGlobals)} more`)]),
  ]
}

/** Draws the diagram from back to front: frames, cables, boxes, jacks. */
export const draw = (layout: Layout): readonly Shape[] => {
  const { frames, bands, sources, rack, callers, cables, collector, tags, gaps, wiredKeys } = layout
  return [
    ...frames.map(frame => rect('frame', frame, { rx: 12 })),
    ...bands.map(band => rect('frame', band)),
    ...cables.flatMap(drawCable),
    ...tags.flatMap(drawTag),
    ...gaps.flatMap(drawGap),
    ...(collector === undefined ? [] : drawCable(collector)),
    ...sources.map(drawSource),
    ...(rack === undefined ? [] : drawRack(rack, wiredKeys)),
    ...sources.flatMap(({ panels }) => panels.flatMap(panel => [...stackEdgesOf(panel).map(box), ...drawPanel(panel)])),
    ...drawCallers(callers),
  ]
}
