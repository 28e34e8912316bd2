import { MINUTE_MS } from '../lib/kernel/durations.ts'
import type { UseSum } from './limit-uses.store.ts'
import { type Meter, type MeterParts, RETRY_MS } from './meter.ts'
import { endOf } from './period.ts'

/** Number of shares into which a window is divided. */
const SHARES = 10

/** A minute. `granted` calls were taken from the database, of `total` that all processes have taken, as last known. */
type Window = {
  used: number
  granted: number
  total: number
  /** Undefined until the first share is taken. */
  period: string | undefined
  endsAt: number
}

/** Returns the calls of a share: a tenth of the limit. */
export const shareOf = (amount: number): number => Math.ceil(amount / SHARES)

/**
 * Creates the meter of a limit per minute. Calls use up shares, which are taken from the database before they are
 * needed, so that most calls do not wait for it. One share may be used while it is being taken, so each process exceeds
 * the limit by at most one share. While the database does not respond, calls are only counted.
 */
export const createRateMeter = ({ amount, add, clock }: MeterParts, onNewPeriod: (period: string) => void): Meter => {
  let window: Window = { used: 0, granted: 0, total: 0, period: undefined, endsAt: clock() + MINUTE_MS }
  let taking: Promise<void> | undefined
  let isAway = false
  let retryAt = 0
  /** Returns the calls that nobody has taken yet, as last known. */
  const leftIn = ({ total }: Window): number => Math.max(0, amount() - total)

  const current = (): Window => {
    if (clock() >= window.endsAt) {
      window = { used: 0, granted: 0, total: 0, period: undefined, endsAt: clock() + MINUTE_MS }
    }
    return window
  }

  const receive = (taken: Window, wanted: number, { total, period, nowMs }: UseSum): void => {
    isAway = false
    // A share that arrives after its minute cannot be used any more.
    if (taken !== window) return
    if (period !== window.period) onNewPeriod(period)
    // If the next minute has begun at the database, calls over the former share count in it.
    if (window.period !== undefined && period !== window.period) {
      window = { ...window, used: Math.max(0, window.used - window.granted), granted: 0 }
    }
    window.period = period
    window.granted += Math.min(wanted, Math.max(0, amount() - (total - wanted)))
    window.total = total
    window.endsAt = clock() + endOf('minute', nowMs) - nowMs
  }

  const take = (taken: Window): Promise<void> => {
    const wanted = Math.max(shareOf(amount()), taken.used - taken.granted)
    taking ??= add(wanted)
      .then(sum => receive(taken, wanted, sum))
      .catch(() => {
        isAway = true
        retryAt = clock() + RETRY_MS
      })
      .finally(() => {
        taking = undefined
      })
    return taking
  }

  const mayTake = (): boolean => taking === undefined && (!isAway || clock() >= retryAt)

  return {
    check: () => {
      const now = current()
      const left = leftIn(now)
      const over = now.used - now.granted
      if (over < Math.min(shareOf(amount()), left) || over < 0 || isAway) return undefined
      if (left === 0 && taking === undefined) return { retryAfterMs: now.endsAt - clock() }
      return take(now)
    },
    count: calls => {
      const now = current()
      now.used += calls
      const isNeeded = now.granted - now.used <= shareOf(amount()) / 2
      if (isNeeded && leftIn(now) > 0 && mayTake()) void take(now)
    },
    flush: async () => {
      await taking
    },
    isIdle: () => taking === undefined && clock() >= window.endsAt,
  }
}
