import { HOUR_MS, MINUTE_MS } from '../../lib/kernel/durations.ts'

/** Pauses before the second attempt, the third and so on. Together they take about 24 hours. */
export const BACKOFF_MS: readonly number[] = [
  5_000,
  30_000,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
  8 * HOUR_MS,
]

/** Each pause is up to a tenth shorter or longer, so that deliveries which failed together are not retried together. */
const JITTER = 0.1
/** Longest pause that a receiver can ask for. */
const MAX_RETRY_AFTER_MS = HOUR_MS

export type Schedule = { backoffMs: readonly number[]; random: () => number }

const withJitter = (ms: number, random: () => number): number => ms * (1 - JITTER + 2 * JITTER * random())

/** Returns the pause after this many attempts, in milliseconds, or undefined if that was the last. */
export const pauseAfter = (
  attempts: number,
  retryAfterMs: number | undefined,
  { backoffMs, random }: Schedule,
): number | undefined => {
  const pauseMs = backoffMs[attempts - 1]
  if (pauseMs === undefined) return undefined
  return Math.max(withJitter(pauseMs, random), Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS))
}

/** Returns how long nothing must have succeeded before a webhook is disabled: most of the time that attempts take. */
export const lastingMs = (backoffMs: readonly number[]): number =>
  backoffMs.reduce((sum, pauseMs) => sum + pauseMs, 0) * (1 - JITTER)
