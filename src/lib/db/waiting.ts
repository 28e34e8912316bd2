import { setTimeout as delay } from 'node:timers/promises'
import { databaseBusy } from './failures.ts'

/** How long a write waits for others, in this process or another, before it gives up. */
export const DATABASE_WAIT_MS = 5_000
const FIRST_PAUSE_MS = 2
const LONGEST_PAUSE_MS = 100

/**
 * Tries until it succeeds, fails with what is not worth another try, or `deadline` (of `performance.now()`) is over;
 * then it throws the last failure. Between tries it waits without blocking the thread.
 */
export const retryUntil = async <T>(
  deadline: number,
  isWorthAnother: (error: unknown) => boolean,
  attempt: () => Promise<T>,
): Promise<T> => {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await attempt()
    } catch (error) {
      // Not all the same pause: those who met once would meet again.
      const jitteredMs = pauseMs * (0.5 + Math.random())
      if (!isWorthAnother(error) || performance.now() + jitteredMs > deadline) throw error
      await delay(jitteredMs)
    }
  }
}

/**
 * One at a time, in the order of asking. `take` waits for its turn until `deadline` (of `performance.now()`) and
 * fails after it, with an AppError as its cause; who took must `pass` exactly once.
 */
export const createTurns = () => {
  const waiting: (() => void)[] = []
  let isTaken = false
  const take = (deadline: number): Promise<void> => {
    if (!isTaken) {
      isTaken = true
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer)
        // SQLite works on this thread: without a break many that wait would let nothing else happen until all are through.
        setImmediate(resolve)
      }
      const leave = () => {
        waiting.splice(waiting.indexOf(enter), 1)
        reject(new Error('a transaction of this process took too long', { cause: databaseBusy() }))
      }
      const timer = setTimeout(leave, Math.max(0, deadline - performance.now()))
      waiting.push(enter)
    })
  }
  const pass = (): void => {
    const next = waiting.shift()
    if (next) next()
    else isTaken = false
  }
  return { take, pass }
}
