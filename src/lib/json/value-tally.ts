import { shareOfHeap } from './heap-cost.ts'
import type { Trail } from './trail.ts'

/** A value, where it was found first, and how often. */
export type Found<Value> = { value: Value; at: Trail; count: number }

/** Heap that one counted value takes. */
const ENTRY_BYTES = 100
/** Maximum different values that are counted of one document. */
const MAX_ENTRIES = Math.floor(shareOfHeap(0.1, 100_000_000) / ENTRY_BYTES)

/** How many more different values may be counted. Shared by all places of a document. */
export type TallyRoom = { left: number }

export const createTallyRoom = (): TallyRoom => ({ left: MAX_ENTRIES })

/** How often each value occurs. `isPartial` means that there was no room for further values. */
export type Tally<Value> = { counts: Map<Value, number>; isPartial: boolean }

export const createTally = <Value>(): Tally<Value> => ({ counts: new Map(), isPartial: false })

export const addToTally = <Value>(tally: Tally<Value>, value: Value, room: TallyRoom): void => {
  const count = tally.counts.get(value)
  if (count === undefined && room.left <= 0) {
    tally.isPartial = true
    return
  }
  if (count === undefined) room.left--
  tally.counts.set(value, (count ?? 0) + 1)
}

/** Returns the most frequent values, and of equally frequent ones the first. */
export const mostFrequent = <Value>({ counts }: Tally<Value>, most: number): readonly [Value, number][] => {
  const best: [Value, number][] = []
  for (const entry of counts) {
    const last = best.at(-1)
    if (best.length === most && last !== undefined && entry[1] <= last[1]) continue
    const at = best.findIndex(([, count]) => count < entry[1])
    best.splice(at === -1 ? best.length : at, 0, entry)
    if (best.length > most) best.pop()
  }
  return best
}

/** Maximum values stored at either end. */
export const MAX_EXTREMES = 2

/** The least and the most of different values, the outermost first. */
export type Extremes<Value> = { least: Found<Value>[]; most: Found<Value>[] }

export const createExtremes = <Value>(): Extremes<Value> => ({ least: [], most: [] })

const addToEnd = <Value extends string | number>(
  end: Found<Value>[],
  value: Value,
  trail: Trail,
  isBefore: (one: Value, other: Value) => boolean,
): void => {
  let at = end.length
  for (let index = at - 1; index >= 0; index--) {
    const found = end[index]
    if (found === undefined || isBefore(found.value, value)) break
    if (found.value === value) {
      found.count++
      return
    }
    at = index
  }
  if (at === MAX_EXTREMES) return
  end.splice(at, 0, { value, at: [...trail], count: 1 })
  if (end.length > MAX_EXTREMES) end.pop()
}

const isLess = (one: string | number, other: string | number): boolean => one < other
const isMore = (one: string | number, other: string | number): boolean => one > other

/** `trail` may change after the call. */
export const addToExtremes = <Value extends string | number>(
  { least, most }: Extremes<Value>,
  value: Value,
  trail: Trail,
): void => {
  addToEnd(least, value, trail, isLess)
  addToEnd(most, value, trail, isMore)
}
