import { setImmediate } from 'node:timers/promises'

/** Longest that work goes on for before everybody else on this thread has a turn. */
const TURN_MS = 8

/** To be awaited between the pieces of long work: gives everybody else a turn, where the last one was a while ago. */
export type Pause = () => Promise<void>

export const createPause = (): Pause => {
  let startedAt = performance.now()
  return async () => {
    if (performance.now() - startedAt < TURN_MS) return
    await setImmediate()
    startedAt = performance.now()
  }
}

/** As `map`, with turns for everybody else between the items. */
export const mapInTurns = async <Item, Made>(
  items: Iterable<Item>,
  make: (item: Item) => Made,
): Promise<Awaited<Made>[]> => {
  const pause = createPause()
  const made: Awaited<Made>[] = []
  for (const item of items) {
    made.push(await make(item))
    await pause()
  }
  return made
}
