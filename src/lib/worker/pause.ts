import { setImmediate } from 'node:timers/promises'

/** Longest time that work may occupy its thread before it lets other work run. */
const TURN_MS = 8

/** Lets other work on this thread run if it has had no turn for a while. Await it between the pieces of long work. */
export type Pause = () => Promise<void>

export const createPause = (): Pause => {
  let startedAt = performance.now()
  return async () => {
    if (performance.now() - startedAt < TURN_MS) return
    await setImmediate()
    startedAt = performance.now()
  }
}

/** Like `map`, but lets other work run between items. */
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
