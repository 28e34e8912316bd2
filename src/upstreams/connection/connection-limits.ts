export type ConnectionLimits = {
  /** Delay before each retry; the last one repeats. */
  retryDelaysMs: readonly number[]
  /** After this many failures in a row calls no longer reconnect until the next retry is due. */
  maxFailures: number
  /** From the start of a process to its first response. */
  startTimeoutMs: number
  /** A process without a request for this long is stopped. */
  idleMs: number
  /** Of stdout and stderr together, within `outputWindowMs`. */
  maxOutputBytes: number
  outputWindowMs: number
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  retryDelaysMs: [2_000, 4_000, 8_000, 30_000],
  maxFailures: 5,
  // A command such as npx may have to download its package first.
  startTimeoutMs: 30_000,
  idleMs: 5 * 60_000,
  // Far above any ordinary server, far below what would keep a core busy.
  maxOutputBytes: 64 * 1_024 * 1_024,
  outputWindowMs: 10_000,
}
