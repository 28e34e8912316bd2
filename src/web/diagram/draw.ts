import type { PlacedCallers } from './callers.ts'
import { CALLER, STUB, TOOLS } from './dimensions.ts'
import { drawPanel } from './draw-panel.ts'
import { drawRack } from './draw-rack.ts'
import { type Cable, type Gap, type Layout, stackEdgesOf, type Tag } from './layout.ts'
import type { PlacedSource } from './placement.ts'
import { pathOf } from './route.ts'
import { box, circle, cutLabel, group, jack, label, lamp, link, path, rect, type Shape } from './shapes.ts'

/** Draws a secret's cable as a double line, like a shielded cable. */
const drawWire = (d: string, source: Cable['source'] | Tag['source']): readonly Shape[] => [
  path('cable', d, { 'data-source': source }),
  ...(source === 'secret' ? [path('core', d)] : []),
]

/** Draws a halo in the background color under each cable, so that crossings read as over and under. */
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

export const drawSource = ({
  source: { name, href, health, state },
  box: { x, y, width, height },
}: PlacedSource): Shape =>
  link(href, name, [
    box({ x, y, width, height }),
    cutLabel(x + 16, y + 27, 'head', name, width - 32),
    lamp(x + 20, y + 45, state),
    cutLabel(x + 31, y + 49, 'soft', health, width - 45),
  ])

export const drawCallers = ({
  callers,
  box: { x, y, width, height },
  jackY,
  rows,
}: PlacedCallers): readonly Shape[] => [
  link(callers.href, 'Callers', [
    box({ x, y, width, height }),
    label(x + 22, y + 29, 'head', 'Callers'),
    label(x + width - 16, y + 29, 'soft end', callers.tier),
  ]),
  path('rule', `M${x + 1} ${y + CALLER.head}h${width - 2}`),
  ...rows.flatMap(({ row: { name, activity, state }, y: middle }) => [
    lamp(x + 26, middle, state),
    cutLabel(x + 40, middle + 4, 'head', name, width - 50),
    cutLabel(x + 40, middle + 20, 'soft', activity, width - 50),
  ]),
  ...(jackY === undefined ? [circle('hole', x, y + CALLER.jack, 5)] : [jack(x, jackY, 'exposed')]),
]

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
