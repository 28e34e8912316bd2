import { shareOfHeap } from './heap-cost.ts'

/** A value, and where it was found: the names and indexes that the path of the place leaves open. */
export type Found<Value> = { value: Value; at: readonly (string | number)[] }

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

/** The least and the most of values, and where they are. */
export type Extremes<Value> = { least: Found<Value> | undefined; most: Found<Value> | undefined }

export const createExtremes = <Value>(): Extremes<Value> => ({ least: undefined, most: undefined })

/** `keys` may change after the call. */
export const addToExtremes = <Value extends string | number>(
  extremes: Extremes<Value>,
  value: Value,
  keys: readonly (string | number)[],
): void => {
  if (extremes.least === undefined || value < extremes.least.value) extremes.least = { value, at: [...keys] }
  if (extremes.most === undefined || value > extremes.most.value) extremes.most = { value, at: [...keys] }
}
