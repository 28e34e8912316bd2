import { empty, join, type Sql, sqltag as sql } from '@prisma/client/runtime/client'
import { z } from 'zod'
import type { Database } from '../lib/db/client.ts'
import { HOUR_MS } from '../lib/kernel/durations.ts'

/** Number of hours that the figures cover: the current one and the 23 before it. */
const HOURS = 24

/** Maximum number of calls read for a server's own page, which bounds its cost. */
const MAX_CALLS_OF_SERVER = 10_000
/** Maximum number of calls read for each server in a list. */
const MAX_CALLS_IN_LIST = 2_000
/** Maximum number of servers per query, because SQLite blocks the thread during a query. */
const SERVERS_AT_ONCE = 4

/**
 * Calls in a period. `rejected` calls were refused (a 4xx status, invalid arguments, a blocked address), `failed` ones
 * ended with any other error. If `isCut`, there were too many, and only the newest calls, starting at `since`, are counted.
 */
export type CallCounts = { calls: number; rejected: number; failed: number; isCut: boolean; since: Date }

export type HourCounts = { startsAt: Date; calls: number; rejected: number; failed: number }

/** Percentiles of durations, in milliseconds. */
type Durations = { p50Ms: number; p95Ms: number; p99Ms: number }

/** A server in a list. `hours` are the last 24, oldest first; `calledTools` and `failingTools` count tool names. */
export type ServerCallCounts = CallCounts & {
  hours: readonly HourCounts[]
  calledTools: number
  failingTools: number
}

export type HourFigures = HourCounts & Partial<Durations>

export type ServerCallFigures = CallCounts & Partial<Durations> & { hours: readonly HourFigures[] }

export type ToolCallFigures = Durations & {
  /** The MCP tool name at the time of the calls. */
  tool: string
  calls: number
  rejected: number
  failed: number
  lastCallAt: Date
  isFailing: boolean
}

/** Calls per client. `client` is the name without the version, or undefined if the client sent none. */
export type ClientCalls = { client: string | undefined; calls: number }

const count = z.coerce.number()
const CountRow = z.object({ key: z.string(), calls: count, rejected: count, failed: count })
const ServerRow = z.object({ key: z.string(), called: count, failing: count, firstAt: z.coerce.date() })
const FigureRow = CountRow.extend({
  p50Ms: z.number(),
  p95Ms: z.number(),
  p99Ms: z.number(),
  firstAt: z.coerce.date(),
  lastAt: z.coerce.date(),
  lastFailureAt: z.coerce.date().nullable(),
})

const startOf = (now: Date): Date => new Date((Math.floor(now.getTime() / HOUR_MS) - HOURS + 1) * HOUR_MS)

/** Whether a call with the outcome `error` failed, as in `call-result.ts`. Rows from before results follow the status. */
const IS_FAILED = sql`(CASE WHEN "result" IS NULL THEN COALESCE("status", 0) NOT BETWEEN 400 AND 499
  ELSE "result" IN ('failed', 'timeout') END)`

/** The calls to count: those of a server, or of one of its callers. */
export type CountedCalls = { serverId: string; callerId: string | undefined }

/**
 * Selects the newest calls of a server, using the index on server and time. Those of one caller are selected from the
 * newest calls, so that the limit also bounds the cost for a caller with few calls.
 */
const newestCalls = ({ serverId, callerId }: CountedCalls, from: Date, limit: number): Sql => sql`
  SELECT "serverId", "startedAt", "tool", "client", "durationMs", "isRejected", "isFailed" FROM (
    SELECT "serverId", "startedAt", "tool", "client", "userId", "durationMs",
      CASE WHEN "outcome" = 'error' AND NOT ${IS_FAILED} THEN 1 ELSE 0 END AS "isRejected",
      CASE WHEN "outcome" = 'error' AND ${IS_FAILED} THEN 1 ELSE 0 END AS "isFailed"
    FROM "Execution" WHERE "serverId" = ${serverId} AND "startedAt" >= ${from}
    ORDER BY "startedAt" DESC LIMIT ${limit}
  ) AS "newest" ${callerId === undefined ? empty : sql`WHERE "userId" = ${callerId}`}`

/** `2026-11-22T05` on SQLite, `2026-11-22 05` on PostgreSQL. Both store times in UTC. */
const HOUR = sql`SUBSTR(CAST("startedAt" AS TEXT), 1, 13)`
const toHour = (text: string): Date => new Date(`${text.slice(0, 10)}T${text.slice(11, 13)}:00:00Z`)

/** Selects the newest calls of several servers, at most `limit` for each. */
export const newestCallsOf = (servers: readonly CountedCalls[], from: Date, limit: number): Sql =>
  join(
    servers.map(server => newestCalls(server, from, limit)),
    ' UNION ALL ',
  )

const countBy = async (db: Database, key: Sql, calls: Sql) =>
  z.array(CountRow).parse(
    await db.$queryRaw(sql`
      SELECT "key", COUNT(*) AS "calls", SUM("isRejected") AS "rejected", SUM("isFailed") AS "failed"
      FROM (SELECT ${key} AS "key", "isRejected", "isFailed" FROM (${calls}) AS "call") AS "keyed" GROUP BY "key"`),
  )

/**
 * Counts the called tools of each server and those whose last call failed. Also finds the time of the first call read.
 */
const countTools = async (db: Database, calls: Sql) =>
  z.array(ServerRow).parse(
    await db.$queryRaw(sql`
      SELECT "serverId" AS "key", COUNT(*) AS "called", MIN("firstAt") AS "firstAt",
        SUM(CASE WHEN "lastFailureAt" = "lastAt" THEN 1 ELSE 0 END) AS "failing"
      FROM (
        SELECT "serverId", "tool", MIN("startedAt") AS "firstAt", MAX("startedAt") AS "lastAt",
          MAX(CASE WHEN "isFailed" = 1 THEN "startedAt" END) AS "lastFailureAt"
        FROM (${calls}) AS "call" GROUP BY "serverId", "tool"
      ) AS "byTool" GROUP BY "serverId"`),
  )

/**
 * Returns counts and durations by key. A percentile is the smallest duration that at least the given share of calls
 * does not exceed.
 */
const measureBy = async (db: Database, key: Sql, calls: Sql) =>
  z.array(FigureRow).parse(
    await db.$queryRaw(sql`
      SELECT "key", COUNT(*) AS "calls", SUM("isRejected") AS "rejected", SUM("isFailed") AS "failed",
        MIN(CASE WHEN "share" >= 0.5 THEN "durationMs" END) AS "p50Ms",
        MIN(CASE WHEN "share" >= 0.95 THEN "durationMs" END) AS "p95Ms",
        MIN(CASE WHEN "share" >= 0.99 THEN "durationMs" END) AS "p99Ms",
        MIN("startedAt") AS "firstAt", MAX("startedAt") AS "lastAt",
        MAX(CASE WHEN "isFailed" = 1 THEN "startedAt" END) AS "lastFailureAt"
      FROM (
        SELECT "key", "isRejected", "isFailed", "durationMs", "startedAt",
          CUME_DIST() OVER (PARTITION BY "key" ORDER BY "durationMs") AS "share"
        FROM (SELECT ${key} AS "key", "isRejected", "isFailed", "durationMs", "startedAt" FROM (${calls}) AS "call") AS "keyed"
      ) AS "shared" GROUP BY "key"`),
  )

const figuresOf = ({ calls, rejected, failed, p50Ms, p95Ms, p99Ms }: z.infer<typeof FigureRow>) => ({
  calls,
  rejected,
  failed,
  p50Ms,
  p95Ms,
  p99Ms,
})

const NO_CALLS = { calls: 0, rejected: 0, failed: 0 }

/** Returns every hour since `from`, including those without calls. */
const fillHours = <T extends HourCounts>(from: Date, known: readonly T[]): (T | HourCounts)[] => {
  const byTime = new Map(known.map(hour => [hour.startsAt.getTime(), hour]))
  return Array.from({ length: HOURS }, (_, index) => {
    const startsAt = new Date(from.getTime() + index * HOUR_MS)
    return byTime.get(startsAt.getTime()) ?? { startsAt, ...NO_CALLS }
  })
}

const callsIn = (rows: readonly { calls: number }[]): number => rows.reduce((sum, { calls }) => sum + calls, 0)

/**
 * Returns whether calls were left out, and the start of the counted period. If calls were left out, this is the time of
 * the first call read.
 */
const extentOf = (calls: number, limit: number, from: Date, firstAt: Date | undefined) => {
  const isCut = calls >= limit && firstAt !== undefined
  return { isCut, since: isCut ? firstAt : from }
}

const countOfSome = async (
  db: Database,
  servers: readonly CountedCalls[],
  from: Date,
): Promise<[serverId: string, counts: ServerCallCounts][]> => {
  const calls = newestCallsOf(servers, from, MAX_CALLS_IN_LIST)
  const byHour = await countBy(db, sql`"serverId" || ${'/'} || ${HOUR}`, calls)
  const byServer = await countTools(db, calls)
  return servers.map(({ serverId: id }) => {
    const known = byHour
      .filter(({ key }) => key.startsWith(`${id}/`))
      .map(({ key, ...counts }) => ({ ...counts, startsAt: toHour(key.slice(id.length + 1)) }))
    const tools = byServer.find(({ key }) => key === id)
    const total = callsIn(known)
    return [
      id,
      {
        ...extentOf(total, MAX_CALLS_IN_LIST, from, tools?.firstAt),
        calls: total,
        rejected: known.reduce((sum, hour) => sum + hour.rejected, 0),
        failed: known.reduce((sum, hour) => sum + hour.failed, 0),
        hours: fillHours(from, known),
        calledTools: tools?.called ?? 0,
        failingTools: tools?.failing ?? 0,
      },
    ]
  })
}

/**
 * Creates the store for the figures of the last 24 hours. Each query uses an index to read a limited number of a
 * server's newest calls. The store does not check access, so callers must.
 */
export const createCallFigureStore = (db: Database) => ({
  /** Returns the counts of each server, including those without calls, in two queries for every four servers. */
  countOfServers: async (servers: readonly CountedCalls[], now: Date): Promise<Map<string, ServerCallCounts>> => {
    const from = startOf(now)
    const counts: [serverId: string, counts: ServerCallCounts][] = []
    for (let first = 0; first < servers.length; first += SERVERS_AT_ONCE) {
      counts.push(...(await countOfSome(db, servers.slice(first, first + SERVERS_AT_ONCE), from)))
    }
    return new Map(counts)
  },

  /** Returns the figures of one server, in total and by hour, with durations. */
  ofServer: async (counted: CountedCalls, now: Date): Promise<ServerCallFigures> => {
    const from = startOf(now)
    const calls = newestCalls(counted, from, MAX_CALLS_OF_SERVER)
    const [[total], byHour] = await Promise.all([measureBy(db, sql`${'all'}`, calls), measureBy(db, HOUR, calls)])
    const hours = byHour.map(row => ({ startsAt: toHour(row.key), ...figuresOf(row) }))
    return {
      ...extentOf(total?.calls ?? 0, MAX_CALLS_OF_SERVER, from, total?.firstAt),
      ...(total === undefined ? NO_CALLS : figuresOf(total)),
      hours: fillHours(from, hours),
    }
  },

  /** Returns the figures of each called tool, most calls first. */
  ofTools: async (counted: CountedCalls, now: Date): Promise<ToolCallFigures[]> => {
    const calls = newestCalls(counted, startOf(now), MAX_CALLS_OF_SERVER)
    const rows = await measureBy(db, sql`"tool"`, calls)
    return rows
      .map(row => ({
        tool: row.key,
        ...figuresOf(row),
        lastCallAt: row.lastAt,
        isFailing: row.lastFailureAt?.getTime() === row.lastAt.getTime(),
      }))
      .sort((a, b) => b.calls - a.calls || a.tool.localeCompare(b.tool))
  },

  /** Returns the clients that called a server, most calls first. */
  ofClients: async (counted: CountedCalls, now: Date): Promise<ClientCalls[]> => {
    const calls = newestCalls(counted, startOf(now), MAX_CALLS_OF_SERVER)
    const rows = await countBy(db, sql`COALESCE("client", ${''})`, calls)
    const byName = Map.groupBy(rows, ({ key }) => key.replace(/\/[^/]*$/, ''))
    return [...byName]
      .map(([name, versions]) => ({
        client: name === '' ? undefined : name,
        calls: callsIn(versions),
      }))
      .sort((a, b) => b.calls - a.calls)
  },
})
