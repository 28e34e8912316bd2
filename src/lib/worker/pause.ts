import { setImmediate as setTurn } from 'node:timers'
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

const waitingForTurn: (() => void)[] = []

const giveTurn = (): void => {
  waitingForTurn.shift()?.()
  if (waitingForTurn.length > 0) setTurn(giveTurn)
}

/**
 * Resolves when it is the caller's turn. In each iteration of the event loop one caller has a turn, in order. However
 * many of them divide long work into pieces, other work waits for one piece only.
 */
export const nextTurn = (): Promise<void> =>
  new Promise(resolve => {
    if (waitingForTurn.push(resolve) === 1) setTurn(giveTurn)
  })

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
