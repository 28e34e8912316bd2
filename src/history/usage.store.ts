import { sqltag as sql } from '@prisma/client/runtime/client'
import { z } from 'zod'
import type { Database } from '../lib/db/client.ts'
import { DAY_MS } from '../lib/kernel/durations.ts'
import { type CountedCalls, newestCallsOf } from './call-figures.store.ts'

const DAYS = 30
/** Calls read in total, shared by the servers of an organization, which bounds the cost of the page. */
const MAX_CALLS = 100_000
/** Minimum limit on the calls read for each server. It takes precedence over the total. */
const MIN_CALLS_OF_SERVER = 500
/** Maximum number of servers per statement. SQLite allows at most 500 selects in a compound query. */
const SERVERS_AT_ONCE = 200

/** Calls of a server in the last 24 hours and 30 days. If `isCut`, only the newest are counted. */
export type ServerUsage = {
  serverId: string
  day: { calls: number; failed: number }
  month: { calls: number; failed: number }
  isCut: boolean
}

const count = z.coerce.number()
const Row = z.object({ serverId: z.string(), calls: count, failed: count, dayCalls: count, dayFailed: count })

const countSome = async (db: Database, servers: readonly CountedCalls[], now: Date, limit: number) => {
  const from = new Date(now.getTime() - DAYS * DAY_MS)
  const dayFrom = new Date(now.getTime() - DAY_MS)
  return z.array(Row).parse(
    await db.$queryRaw(sql`
      SELECT "serverId", COUNT(*) AS "calls", SUM("isFailed") AS "failed",
        SUM(CASE WHEN "startedAt" >= ${dayFrom} THEN 1 ELSE 0 END) AS "dayCalls",
        SUM(CASE WHEN "startedAt" >= ${dayFrom} THEN "isFailed" ELSE 0 END) AS "dayFailed"
      FROM (${newestCallsOf(servers, from, limit)}) AS "call" GROUP BY "serverId"`),
  )
}

/** Returns the usage of those servers that were called. The caller must have checked access. */
export const listServerUsage = async (
  db: Database,
  servers: readonly CountedCalls[],
  now: Date,
): Promise<ServerUsage[]> => {
  const limit = Math.max(MIN_CALLS_OF_SERVER, Math.floor(MAX_CALLS / Math.max(1, servers.length)))
  const usage: ServerUsage[] = []
  for (let first = 0; first < servers.length; first += SERVERS_AT_ONCE) {
    for (const row of await countSome(db, servers.slice(first, first + SERVERS_AT_ONCE), now, limit)) {
      usage.push({
        serverId: row.serverId,
        day: { calls: row.dayCalls, failed: row.dayFailed },
        month: { calls: row.calls, failed: row.failed },
        isCut: row.calls >= limit,
      })
    }
  }
  return usage
}
