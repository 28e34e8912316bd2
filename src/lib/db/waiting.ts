import { setTimeout as delay } from 'node:timers/promises'
import { databaseBusy } from './failures.ts'

/** How long a write waits for other writes, in this or other processes, before it fails. */
export const DATABASE_WAIT_MS = 5_000
/** How long a probe waits for the database. */
export const PROBE_TIMEOUT_MS = 2_000
const FIRST_PAUSE_MS = 2
const LONGEST_PAUSE_MS = 100

/**
 * Retries `attempt` until it succeeds. Throws its error if `isWorthAnother` returns false or the next attempt would
 * start after `deadline` (on the `performance.now()` clock). Waits between attempts without blocking the thread.
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
      // Adds jitter, so that callers that collided do not collide again.
      const jitteredMs = pauseMs * (0.5 + Math.random())
      if (!isWorthAnother(error) || performance.now() + jitteredMs > deadline) throw error
      await delay(jitteredMs)
    }
  }
}

/**
 * Creates a FIFO lock. `acquire` rejects at `deadline` (on the `performance.now()` clock), with an AppError as the
 * cause. Call `release` exactly once after each successful `acquire`.
 */
export const createLock = () => {
  const waiting: (() => void)[] = []
  let isLocked = false
  const acquire = (deadline: number): Promise<void> => {
    if (!isLocked) {
      isLocked = true
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const proceed = () => {
        clearTimeout(timer)
        // SQLite runs on this thread. Without yielding, a queue of writers would block everything else.
        setImmediate(resolve)
      }
      const giveUp = () => {
        waiting.splice(waiting.indexOf(proceed), 1)
        reject(new Error('a transaction of this process took too long', { cause: databaseBusy() }))
      }
      const timer = setTimeout(giveUp, Math.max(0, deadline - performance.now()))
      waiting.push(proceed)
    })
  }
  const release = (): void => {
    const next = waiting.shift()
    if (next) next()
    else isLocked = false
  }
  return { acquire, release }
}
