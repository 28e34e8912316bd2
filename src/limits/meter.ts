import type { UseSum } from './limit-uses.store.ts'

/**
 * Counts the uses of a limit by one target in this process. All times are of the process's monotonic clock, so a step of
 * the machine's clock changes nothing.
 */
export type Meter = {
  /**
   * Returns undefined if a call may start, how long it must wait for the next period if the limit is reached, or a
   * promise after which to check again. The promise never rejects.
   */
  check: () => { retryAfterMs: number } | Promise<void> | undefined
  /** Counts a use of a call that has started. */
  count: (amount: number) => void
  /** Adds what is only counted in this process to the sum in the database. Never rejects. */
  flush: () => Promise<void>
  /** Returns whether nothing is lost if this meter is dropped. */
  isIdle: () => boolean
}

export type MeterParts = {
  /** Returns the limit's amount, which may change at any time. */
  amount: () => number
  /** Adds to the sum in the database and returns it. Rejects if the database does not respond in time. */
  add: (amount: number) => Promise<UseSum>
  /** Milliseconds, monotonic. */
  clock: () => number
}

/** How long a meter counts without the database after an attempt has failed. */
export const RETRY_MS = 1_000
