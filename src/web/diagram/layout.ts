import { type PlacedCallers, placeCallers } from './callers.ts'
import { type DiagramContent, globalKeyOf, type WiredRow } from './diagram-content.ts'
import {
  BAND,
  CALLERS,
  COLLECTOR,
  FRAME,
  type Point,
  type Rect,
  rightOf,
  SOURCES,
  STACK_OFFSET,
  STUB,
  TAG_HEIGHT,
  TOOLS,
} from './dimensions.ts'
import { assignLanes } from './lanes.ts'
import { type Placed, type PlacedPanel, type PlacedSource, placeSources } from './placement.ts'
import { type PlacedRack, placeRack, RACK_EDGE } from './rack.ts'
import { routeBetween } from './route.ts'
import { cutText } from './text.ts'

/** A cable with all its branches, which merge where they overlap. */
export type Cable = { source: 'global' | 'secret' | 'exposed'; lane: number; branches: readonly (readonly Point[])[] }

/** A label on a short cable at a socket. It shows a fixed value, or the key of a global that has no row in the rack. */
export type Tag = { source: 'fixed' | 'global' | 'secret'; text: string; box: Rect; y: number }

/** A socket without a value. */
export type Gap = { text: string; y: number }

/** Returns the edges that show behind a stack, the furthest one first. */
export const stackEdgesOf = ({ panel, box }: PlacedPanel): readonly Rect[] =>
  panel.isStack
    ? [2 * STACK_OFFSET, STACK_OFFSET].map(by => ({
        x: box.x + by,
        y: box.y + by,
        width: box.width - 2 * by,
        height: box.height,
      }))
    : []

const bandOf = ({ box, frame }: PlacedSource): readonly Rect[] =>
  frame === undefined
    ? []
    : [
        {
          x: rightOf(SOURCES) - BAND.overlap,
          y: box.y + BAND.y,
          width: FRAME.x - rightOf(SOURCES) + BAND.overlap,
          height: BAND.height,
        },
      ]

const cablesOf = (rack: PlacedRack, left: readonly Placed<WiredRow>[]): readonly Cable[] => {
  const connections = rack.rows.flatMap(({ row: { key, source }, y: from }) => {
    const to = left.flatMap(({ row, y }) => (globalKeyOf(row) === key ? y : []))
    return to.length === 0 ? [] : [{ source, from, to }]
  })
  const lanes = assignLanes(connections)
  return connections
    .map(({ source, from, to }, index): Cable => {
      const lane = lanes[index] ?? 0
      return { source, lane, branches: to.map(y => routeBetween([RACK_EDGE, from], lane, [TOOLS.x, y])) }
    })
    .sort((a, b) => b.lane - a.lane)
}

const collectorOf = ({ jackY }: PlacedCallers, sockets: readonly number[]): Cable | undefined => {
  if (jackY === undefined) return undefined
  const branches = sockets.map(y => routeBetween([CALLERS.x, jackY], COLLECTOR, [rightOf(TOOLS), y]))
  return { source: 'exposed', lane: COLLECTOR, branches }
}

const TAG_ROOM = TOOLS.x - STUB - FRAME.x - 1
const TAG_PADDING = 9

const tagOf = (source: Tag['source'], text: string, y: number): Tag => {
  const cut = cutText(text, 'value', TAG_ROOM - 2 * TAG_PADDING)
  const width = Math.max(TAG_HEIGHT, cut.width + 2 * TAG_PADDING)
  const box = { x: TOOLS.x - STUB - width, y: y - TAG_HEIGHT / 2, width, height: TAG_HEIGHT }
  return { source, text: cut.text, box, y }
}

const tagsOf = (left: readonly Placed<WiredRow>[], inRack: ReadonlySet<string>): readonly Tag[] =>
  left.flatMap(({ row, y }) => {
    if (row.source === 'fixed') return [tagOf(row.source, row.value, y)]
    return row.source === 'missing' || inRack.has(row.key) ? [] : [tagOf(row.source, row.key, y)]
  })

const GAP_ROOM = TOOLS.x - STUB - FRAME.x - 9
/** Width of `no “”`. */
const GAP_WORDS_WIDTH = 28

const gapText = (key: string | undefined): string =>
  key === undefined ? 'no value' : `no “${cutText(key, 'sans', GAP_ROOM - GAP_WORDS_WIDTH).text}”`

const lowestEdge = (boxes: readonly Rect[]): number => Math.max(0, ...boxes.map(({ y, height }) => y + height))

/** Computes all positions. Boxes do not overlap, cables do not cross boxes, and equal content gives equal layouts. */
export const layOut = ({ sources: unplaced, rack: unplacedRack, callers: unplacedCallers }: DiagramContent) => {
  const sources = placeSources(unplaced, unplacedRack.rows.length > 0)
  const panels = sources.flatMap(source => source.panels)
  const left = panels.flatMap(panel => panel.left)
  const exposed = panels.flatMap(panel => panel.right.map(({ y }) => y))
  const frames = sources.flatMap(({ frame }) => frame ?? [])
  const boxes = [...sources.map(({ box }) => box), ...frames]
  const rack = placeRack(unplacedRack, sources, lowestEdge(boxes))
  const end = lowestEdge(rack === undefined ? boxes : [...boxes, rack.box])
  const callers = placeCallers(unplacedCallers, exposed, end)
  const inRack = new Set(rack?.rows.map(({ row }) => row.key))
  const drawnKeys = left.flatMap(({ row }) => globalKeyOf(row) ?? [])
  return {
    height: Math.max(end, lowestEdge([callers.box])),
    /** Frames around the tools of each source, drawn behind everything else. */
    frames,
    /** Bands that connect each source's box to its frame. */
    bands: sources.flatMap(bandOf),
    sources,
    rack,
    callers,
    /** Cables in drawing order. The cable in the leftmost lane is drawn last, on top of the others. */
    cables: rack === undefined ? [] : cablesOf(rack, left),
    collector: collectorOf(callers, exposed),
    tags: tagsOf(left, inRack),
    gaps: left.flatMap(({ row, y }) => (row.source === 'missing' ? [{ text: gapText(row.key), y }] : [])),
    /** Keys of the globals in the rack that have a cable. */
    wiredKeys: new Set(drawnKeys.filter(key => inRack.has(key))),
  }
}
export type Layout = ReturnType<typeof layOut>
