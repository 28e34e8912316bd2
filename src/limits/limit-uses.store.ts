import { type Sql, sqltag as sql } from '@prisma/client/runtime/client'
import { z } from 'zod'
import { removeInBatches } from '../lib/db/batches.ts'
import type { Database } from '../lib/db/client.ts'
import type { DatabaseKind } from '../lib/db/target.ts'
import { DAY_MS, HOUR_MS } from '../lib/kernel/durations.ts'
import type { Limit } from './limit.ts'
import { type LimitPeriod, labelOf } from './period.ts'

/** The sum of a limit's uses in a period, after an addition. `nowMs` is the time at the database, since 1970. */
export type UseSum = { total: number; period: string; nowMs: number }

/** How long the sums of days and months are stored. */
const KEPT_DAYS = 400

const Added = z.tuple([z.object({ amount: z.coerce.number(), period: z.string(), nowMs: z.coerce.number() })])

/** Expressions for the current minute in UTC, such as 2026-11-28T15:52, and for the milliseconds since 1970. */
const CLOCKS: Readonly<Record<DatabaseKind, { minute: Sql; nowMs: Sql }>> = {
  sqlite: { minute: sql`strftime('%Y-%m-%dT%H:%M', 'now')`, nowMs: sql`unixepoch('subsec') * 1000` },
  postgresql: {
    minute: sql`to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI')`,
    nowMs: sql`extract(epoch FROM now()) * 1000`,
  },
}

const LABELS: Readonly<Record<LimitPeriod, (minute: Sql) => Sql>> = {
  minute: minute => minute,
  day: minute => sql`SUBSTR(${minute}, 1, 10)`,
  month: minute => sql`SUBSTR(${minute}, 1, 7)`,
}

/**
 * Creates the store of the uses of limits. The clock of the database decides the period, so that replicas
 * whose clocks differ agree. `now` replaces that clock in tests.
 */
export const createLimitUses = (db: Database, now?: () => number) => {
  const clockOf = (period: LimitPeriod): { label: Sql; nowMs: Sql } => {
    if (now !== undefined)
      return { label: sql`${labelOf(period, now())}`, nowMs: sql`CAST(${now()} AS DOUBLE PRECISION)` }
    const { minute, nowMs } = CLOCKS[db.kind]
    return { label: LABELS[period](minute), nowMs }
  }
  return {
    /** Adds to a sum of the current period, and returns it. An amount of 0 only reads it. */
    add: async ({ id, period }: Pick<Limit, 'id' | 'period'>, target: string, amount: number): Promise<UseSum> => {
      const { label, nowMs } = clockOf(period)
      const rows = await db.$queryRaw(sql`
        INSERT INTO "LimitUse" ("limitId", "target", "period", "amount")
        VALUES (${id}, ${target}, ${label}, ${BigInt(amount)})
        ON CONFLICT ("limitId", "target", "period")
        DO UPDATE SET "amount" = "LimitUse"."amount" + excluded."amount", "updatedAt" = CURRENT_TIMESTAMP
        RETURNING "amount", "period", ${nowMs} AS "nowMs"`)
      const [{ amount: total, ...added }] = Added.parse(rows)
      return { total, ...added }
    },
    /**
     * Removes the sums of a target's earlier periods, which are not needed once a minute is over. Keeps those of later
     * periods, because this may run after the next minute has begun.
     */
    removeEarlier: async (limitId: string, target: string, period: string): Promise<void> => {
      await db.limitUse.deleteMany({ where: { limitId, target, period: { lt: period } } })
    },
    /** Lists the largest sums of the current period. `nowMs` is the time on this machine. */
    listLargest: async ({ id, period }: Limit, nowMs: number, take: number) => {
      const rows = await db.limitUse.findMany({
        where: { limitId: id, period: labelOf(period, nowMs) },
        select: { target: true, amount: true },
        orderBy: { amount: 'desc' },
        take,
      })
      return rows.map(({ target, amount }) => ({ target, amount: Number(amount) }))
    },
  }
}
export type LimitUses = ReturnType<typeof createLimitUses>

/** Removes sums that are no longer needed: of old periods, and of minutes that a wrong clock dated in the future. */
export const removeOldUses = async (db: Database, now: Date, signal?: AbortSignal): Promise<void> => {
  const minuteAt = (ms: number) => labelOf('minute', now.getTime() + ms)
  const old = { period: { lt: labelOf('day', now.getTime() - KEPT_DAYS * DAY_MS) } }
  const minutes = {
    limit: { period: 'minute' as const },
    OR: [{ period: { lt: minuteAt(-HOUR_MS) } }, { period: { gt: minuteAt(HOUR_MS) } }],
  }
  await removeInBatches(limit => db.limitUse.deleteMany({ where: { OR: [old, minutes] }, limit }), signal)
}
