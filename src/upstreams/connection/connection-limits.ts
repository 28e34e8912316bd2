/** Times and sizes of every connection. */
export type ConnectionLimits = {
  /** Before each further try; the last one goes on. */
  retryDelaysMs: readonly number[]
  /** Failures in a row after which no call tries any more until the next try is due. */
  maxFailures: number
  /** From the start of a process to its first answer. */
  startTimeoutMs: number
  /** A process that nobody has asked anything for this long is ended. */
  idleMs: number
  /** Of stdout and stderr together, in any `outputWindowMs`. */
  maxOutputBytes: number
  outputWindowMs: number
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  retryDelaysMs: [2_000, 4_000, 8_000, 30_000],
  maxFailures: 5,
  // A command such as npx may have to fetch its package first.
  startTimeoutMs: 30_000,
  idleMs: 5 * 60_000,
  // Far above any honest server, far below what would keep a core busy.
  maxOutputBytes: 64 * 1_024 * 1_024,
  outputWindowMs: 10_000,
}
