import { type Meter, type MeterParts, RETRY_MS } from './meter.ts'
import { endOf, type LimitPeriod } from './period.ts'

/** Age at which the known sum is read again, because other processes add to it too. */
const MAX_AGE_MS = 5_000

/**
 * Creates the meter of a quota per day or month. Calls are checked against the sum in the database as last known, plus
 * what this process has counted since. `onCounted` is called when something must be flushed, which may wait a second.
 */
export const createQuotaMeter = (
  { amount, add, clock }: MeterParts,
  period: Exclude<LimitPeriod, 'minute'>,
  onCounted: () => void,
): Meter => {
  /** The sum at the database. Undefined if it is not known for this period. */
  let sum: number | undefined
  let readAt = 0
  let endsAt = Number.POSITIVE_INFINITY
  /** Counted here and not yet added, and the amount that is being added. */
  let counted = 0
  let adding = 0
  let syncing: Promise<void> | undefined
  let isAway = false
  let retryAt = 0

  /** Adds what was counted, and reads the sum. */
  const sync = (): Promise<void> => {
    if (syncing !== undefined) return syncing
    adding = counted
    counted = 0
    syncing = add(adding)
      .then(({ total, nowMs }) => {
        sum = total
        isAway = false
        readAt = clock()
        endsAt = clock() + endOf(period, nowMs) - nowMs
      })
      .catch(() => {
        counted += adding
        isAway = true
        retryAt = clock() + RETRY_MS
      })
      .finally(() => {
        adding = 0
        syncing = undefined
        if (counted > 0) onCounted()
      })
    return syncing
  }

  return {
    check: () => {
      if (clock() >= endsAt) sum = undefined
      if (isAway && clock() >= retryAt) void sync()
      if (sum === undefined) return isAway ? undefined : sync()
      if (sum + counted + adding >= amount()) return { retryAfterMs: endsAt - clock() }
      if (clock() - readAt > MAX_AGE_MS && !isAway) void sync()
      return undefined
    },
    count: used => {
      counted += used
      onCounted()
    },
    flush: async () => {
      await syncing
      if (counted > 0) await sync()
    },
    isIdle: () => counted === 0 && syncing === undefined && (sum === undefined || clock() - readAt > MAX_AGE_MS),
  }
}
