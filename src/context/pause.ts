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
