import { globalKeyOf, type Rack, type WiredRow } from './diagram-content.ts'
import { meanOf, RACK, RADIUS, ROW, rightOf, SOURCES } from './dimensions.ts'
import type { PatchGlobal } from './patch.ts'
import type { Placed, PlacedSource } from './placement.ts'

/** Range of y for the top of the rack within which the rack fits between other boxes. */
type Stretch = { from: number; to: number }

// Scores used to rate a position of the rack.
/** Bonus if a row is level with a socket of its own global, so that the cable is straight. */
const LEVEL = 60
const OWN_MISSED = 30
const OTHER_CLOSE = 12
/** Penalty if two cables are almost in line, so that their halos would cut into each other. */
const OTHER_TOUCHES = 100
const TOUCHES = 8
/**
 * Penalty if two cables are in line and would look like one. It rules the position out, which is safe because there is
 * always room below everything.
 */
const OTHER_LEVEL = 10_000
const PER_PIXEL = 0.25
/**
 * Vertical distance below which a row and a socket count as close. Unless they are level, the step of the cable is
 * smaller than its two corners.
 */
const CLOSE = 2 * RADIUS

const rowOffset = (index: number): number => RACK.head + index * ROW + ROW / 2

const rackHeight = ({ rows, hiddenGlobals }: Rack): number =>
  RACK.head + (rows.length + (hiddenGlobals > 0 ? 1 : 0)) * ROW + RACK.foot

/** Returns the ranges in which the rack fits. There is no limit below the last box, so `reach` bounds the search. */
const freeStretches = (sources: readonly PlacedSource[], height: number, reach: number): readonly Stretch[] => {
  const stretches = sources.map(({ box }, index) => {
    const from = box.y + box.height + RACK.margin
    const next = sources[index + 1]
    return { from, to: next === undefined ? from + reach : next.box.y - RACK.margin - height }
  })
  return stretches.filter(({ from, to }) => from <= to)
}

type Socket = { key: string | undefined; y: number }

/** Returns the sockets on the left. `key` is undefined if the socket has a tag or no value. */
const socketsOf = (rack: Rack, sources: readonly PlacedSource[]): readonly Socket[] => {
  const keys = new Set(rack.rows.map(({ key }) => key))
  return sources
    .flatMap(({ panels }) => panels.flatMap(({ left }) => left))
    .map(({ row, y }: Placed<WiredRow>) => {
      const key = globalKeyOf(row)
      return { key: key !== undefined && keys.has(key) ? key : undefined, y }
    })
}

const scoreOf = (distance: number, isOwn: boolean, isTagged: boolean): number => {
  if (isOwn) return distance === 0 ? LEVEL : -OWN_MISSED
  // The cable turns into its lane before it reaches the tag.
  if (isTagged) return distance === 0 ? 0 : -OTHER_CLOSE
  if (distance === 0) return -OTHER_LEVEL
  return distance < TOUCHES ? -OTHER_TOUCHES : -OTHER_CLOSE
}

/**
 * Returns a score for placing the rack at each y from 0 to `last`. Each row and socket pair affects only the few
 * positions where the two are almost level.
 */
const scoresByHeight = (rows: readonly PatchGlobal[], sockets: readonly Socket[], last: number): Float64Array => {
  const scores = new Float64Array(last + 1)
  rows.forEach(({ key }, index) => {
    for (const { key: wanted, y } of sockets) {
      const level = y - rowOffset(index)
      for (let height = Math.max(0, level - CLOSE + 1); height < level + CLOSE && height <= last; height++) {
        const change = scoreOf(Math.abs(height - level), wanted === key, wanted === undefined)
        scores[height] = (scores[height] ?? 0) + change
      }
    }
  })
  return scores
}

const bestHeight = (stretches: readonly Stretch[], scoreOf: (y: number) => number): number => {
  let best = { y: stretches[0]?.from ?? 0, score: Number.NEGATIVE_INFINITY }
  for (const { from, to } of stretches) {
    for (let y = from; y <= to; y++) {
      const score = scoreOf(y)
      if (score > best.score) best = { y, score }
    }
  }
  return best.y
}

/** Places the rack where its cables are straightest. Returns undefined if there are no globals. */
export const placeRack = (rack: Rack, sources: readonly PlacedSource[], end: number) => {
  if (rack.rows.length === 0) return undefined
  const height = rackHeight(rack)
  const sockets = socketsOf(rack, sources)
  const stretches = freeStretches(sources, height, end)
  const last = Math.max(0, ...stretches.map(({ to }) => to))
  const scores = scoresByHeight(rack.rows, sockets, last)
  const mean = meanOf(sockets.flatMap(({ key, y }) => (key === undefined ? [] : y)))
  const y = bestHeight(stretches, at => (scores[at] ?? 0) - Math.abs(at + height / 2 - mean) * PER_PIXEL)
  return {
    rack,
    box: { ...SOURCES, y, height },
    rows: rack.rows.map((row, index) => ({ row, y: y + rowOffset(index) })),
    /** The y of the middle of the row that shows the number of remaining globals. */
    moreY: rack.hiddenGlobals > 0 ? y + rowOffset(rack.rows.length) : undefined,
  }
}

export type PlacedRack = NonNullable<ReturnType<typeof placeRack>>

export const RACK_EDGE = rightOf(SOURCES)
