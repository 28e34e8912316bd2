import { MINUTE_MS } from '../lib/kernel/durations.ts'

export const LIMIT_PERIODS = ['minute', 'day', 'month'] as const
export type LimitPeriod = (typeof LIMIT_PERIODS)[number]

/** Length of the part of an ISO time that names its minute, day or month. */
const LABEL_CHARACTERS: Readonly<Record<LimitPeriod, number>> = { minute: 16, day: 10, month: 7 }

/** Returns the minute, day or month of a time, in UTC: `2026-11-28T15:52`, `2026-11-28` or `2026-11`. */
export const labelOf = (period: LimitPeriod, nowMs: number): string =>
  new Date(nowMs).toISOString().slice(0, LABEL_CHARACTERS[period])

/** Returns when the next period begins, in milliseconds since 1970. */
export const endOf = (period: LimitPeriod, nowMs: number): number => {
  const now = new Date(nowMs)
  switch (period) {
    case 'minute':
      return (Math.floor(nowMs / MINUTE_MS) + 1) * MINUTE_MS
    case 'day':
      return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
    case 'month':
      return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)
  }
}
