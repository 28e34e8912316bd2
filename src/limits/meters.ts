import { setTimeout as delay } from 'node:timers/promises'
import { isForeignKeyViolation } from '../lib/db/failures.ts'
import type { DatabaseHealth } from '../lib/db/health.ts'
import { MINUTE_MS } from '../lib/kernel/durations.ts'
import type { Limit } from './limit.ts'
import type { LimitUses, UseSum } from './limit-uses.store.ts'
import type { Meter } from './meter.ts'
import { endOf } from './period.ts'
import { createQuotaMeter } from './quota-meter.ts'
import { createRateMeter } from './rate-meter.ts'

/** How long a quota's uses may be counted in this process only. If the process is killed, these are lost. */
const FLUSH_MS = 1_000
/** Calls go on without the database if it does not respond in this time. */
const MAX_WAIT_MS = 2_000

/** Share of a limit whose use is worth a warning. */
export const WARNING_SHARE = 0.8

/** The sum of a limit has reached 80 % (`warning`) or all of its amount (`reached`). */
export type LimitLevel = {
  limit: Limit
  /** Id of the server, tool, user or token; empty for the organization. */
  target: string
  period: string
  level: 'warning' | 'reached'
  used: number
  resetsAt: Date
}

/** Returns the level that a sum has reached by an addition. */
const levelOf = (amount: number, before: number, after: number): LimitLevel['level'] | undefined => {
  if (before < amount && after >= amount) return 'reached'
  const warning = amount * WARNING_SHARE
  return before < warning && after >= warning ? 'warning' : undefined
}

export type MetersOptions = {
  uses: Pick<LimitUses, 'add' | 'removeEarlier'>
  databaseHealth: Pick<DatabaseHealth, 'whileReachable'>
  /** Called in the process whose addition reached a level, so once for all replicas. */
  onLevel: (level: LimitLevel) => void
  /** Milliseconds, monotonic. */
  clock: () => number
}

/** Creates the meters of limits: one for each limit and target that this process has seen lately. */
export const createMeters = ({ uses, databaseHealth, onLevel, clock }: MetersOptions) => {
  type Entry = { limit: Limit; meter: Meter }
  const entries = new Map<string, Map<string, Entry>>()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  /** Fails soon if the database does not respond, because calls wait for this. */
  const inTime = async <T>(work: () => Promise<T>): Promise<T> => {
    const stop = new AbortController()
    const late = delay(MAX_WAIT_MS, undefined, { ref: false, signal: stop.signal }).then(() => {
      throw new Error('the database did not respond in time')
    })
    try {
      return await Promise.race([databaseHealth.whileReachable(work), late])
    } finally {
      late.catch(() => {})
      stop.abort()
    }
  }

  const flush = async (): Promise<void> => {
    const meters = [...entries.values()].flatMap(targets => [...targets.values()])
    await Promise.all(meters.map(({ meter }) => meter.flush()))
  }
  const flushLater = (): void => {
    if (isClosed) return
    timer ??= setTimeout(() => {
      timer = undefined
      void flush()
    }, FLUSH_MS).unref()
  }

  const open = (entry: { limit: Limit }, target: string): Meter => {
    const { id, period } = entry.limit
    const add = async (amount: number): Promise<UseSum> => {
      const sum = await inTime(() => uses.add({ id, period }, target, amount)).catch((error: unknown) => {
        // The limit was deleted. Its meters would try forever to add what they have counted.
        if (isForeignKeyViolation(error)) entries.delete(id)
        throw error
      })
      const level = levelOf(entry.limit.amount, sum.total - amount, sum.total)
      if (level !== undefined) {
        const resetsAt = new Date(endOf(period, sum.nowMs))
        onLevel({ limit: entry.limit, target, period: sum.period, level, used: sum.total, resetsAt })
      }
      return sum
    }
    const parts = { amount: () => entry.limit.amount, add, clock }
    if (period === 'minute') {
      // Fails only while the database is away. Then, upkeep removes the rows.
      return createRateMeter(
        parts,
        current => void inTime(() => uses.removeEarlier(id, target, current)).catch(() => {}),
      )
    }
    return createQuotaMeter(parts, period, flushLater)
  }

  /** Drops the meters of targets that have not been used for a while. */
  const sweep = (): void => {
    for (const [limitId, targets] of entries) {
      for (const [target, { meter }] of targets) if (meter.isIdle()) targets.delete(target)
      if (targets.size === 0) entries.delete(limitId)
    }
  }
  const sweeping = setInterval(sweep, MINUTE_MS).unref()

  return {
    /** Returns the meter of a limit and target. `limit` may have a new amount. */
    of: (limit: Limit, target: string): Meter => {
      const targets = entries.get(limit.id) ?? new Map<string, Entry>()
      entries.set(limit.id, targets)
      const known = targets.get(target)
      if (known !== undefined) {
        known.limit = limit
        return known.meter
      }
      const entry = { limit }
      const meter = open(entry, target)
      targets.set(target, Object.assign(entry, { meter }))
      return meter
    },
    /** Writes what has been counted. Never rejects. */
    flush,
    close: async (): Promise<void> => {
      isClosed = true
      clearInterval(sweeping)
      clearTimeout(timer)
      await flush()
    },
  }
}
export type Meters = ReturnType<typeof createMeters>
