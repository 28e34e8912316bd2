import { join, type Sql, sqltag as sql } from '@prisma/client/runtime/client'
import { z } from 'zod'
import type { Database } from '../lib/db/client.ts'

/** Hours that figures cover: the one that runs and the 23 before it. */
const HOURS = 24
const HOUR_MS = 60 * 60 * 1_000

/** Calls of one server that are read for its own page: what its pages cost then has an end, however busy it is. */
const MAX_CALLS_OF_SERVER = 10_000
/** The same for each of many servers in a list, where a figure at a glance is enough. */
const MAX_CALLS_IN_LIST = 2_000
/** Servers of a list that are read at once: SQLite holds the thread up meanwhile, and calls with it. */
const SERVERS_AT_ONCE = 4

/** Calls within a time; `isCut` where there were more than are looked at: the newest are, from `since` on. */
export type CallCounts = { calls: number; errors: number; isCut: boolean; since: Date }

export type HourCounts = { startsAt: Date; calls: number; errors: number }

/** Durations in milliseconds: half of the calls took `p50` or less, 99 of a hundred `p99` or less. */
type Durations = { p50Ms: number; p95Ms: number; p99Ms: number }

/** A server in a list. `hours` are the last 24, oldest first; `calledTools` and `failingTools` count names. */
export type ServerCallCounts = CallCounts & {
  hours: readonly HourCounts[]
  calledTools: number
  /** Of those called: whose last call failed. */
  failingTools: number
}

/** An hour without calls has no durations. */
export type HourFigures = HourCounts & Partial<Durations>

export type ServerCallFigures = CallCounts & Partial<Durations> & { hours: readonly HourFigures[] }

export type ToolCallFigures = Durations & {
  /** The MCP tool name at the time of the calls. */
  tool: string
  calls: number
  errors: number
  lastCallAt: Date
  /** Whether the last call failed. */
  isFailing: boolean
}

/** A program that called, by the name it gives itself, without the version; undefined where it gave none. */
export type ClientCalls = { client: string | undefined; calls: number }

const count = z.coerce.number()
const CountRow = z.object({ key: z.string(), calls: count, errors: count })
const ServerRow = z.object({ key: z.string(), called: count, failing: count, firstAt: z.coerce.date() })
const FigureRow = CountRow.extend({
  p50: z.number(),
  p95: z.number(),
  p99: z.number(),
  firstAt: z.coerce.date(),
  lastAt: z.coerce.date(),
  lastErrorAt: z.coerce.date().nullable(),
})

const startOf = (now: Date): Date => new Date((Math.floor(now.getTime() / HOUR_MS) - HOURS + 1) * HOUR_MS)

/** Of one server, newest first, through the index by server and time; no more than `limit`. */
const newestCalls = (serverId: string, from: Date, limit: number): Sql => sql`
  SELECT * FROM (
    SELECT "serverId", "startedAt", "tool", "client", "durationMs", CASE WHEN "outcome" = 'error' THEN 1 ELSE 0 END AS "isError"
    FROM "Execution" WHERE "serverId" = ${serverId} AND "startedAt" >= ${from}
    ORDER BY "startedAt" DESC LIMIT ${limit}
  ) AS "newest"`

/** `2026-11-22T05` on SQLite, `2026-11-22 05` on PostgreSQL: both keep times in UTC. */
const HOUR = sql`SUBSTR(CAST("startedAt" AS TEXT), 1, 13)`
const toHour = (text: string): Date => new Date(`${text.slice(0, 10)}T${text.slice(11, 13)}:00:00Z`)

const countBy = async (db: Database, key: Sql, calls: Sql) =>
  z.array(CountRow).parse(
    await db.$queryRaw(sql`
      SELECT "key", COUNT(*) AS "calls", SUM("isError") AS "errors"
      FROM (SELECT ${key} AS "key", "isError" FROM (${calls}) AS "call") AS "keyed" GROUP BY "key"`),
  )

/** For each server: how many tools were called, how many of them failed last, and when the first call read was. */
const countTools = async (db: Database, calls: Sql) =>
  z.array(ServerRow).parse(
    await db.$queryRaw(sql`
      SELECT "serverId" AS "key", COUNT(*) AS "called", MIN("firstAt") AS "firstAt",
        SUM(CASE WHEN "lastErrorAt" = "lastAt" THEN 1 ELSE 0 END) AS "failing"
      FROM (
        SELECT "serverId", "tool", MIN("startedAt") AS "firstAt", MAX("startedAt") AS "lastAt",
          MAX(CASE WHEN "isError" = 1 THEN "startedAt" END) AS "lastErrorAt"
        FROM (${calls}) AS "call" GROUP BY "serverId", "tool"
      ) AS "byTool" GROUP BY "serverId"`),
  )

/** A percentile is the least duration that so many calls do not exceed. */
const measureBy = async (db: Database, key: Sql, calls: Sql) =>
  z.array(FigureRow).parse(
    await db.$queryRaw(sql`
      SELECT "key", COUNT(*) AS "calls", SUM("isError") AS "errors",
        MIN(CASE WHEN "share" >= 0.5 THEN "durationMs" END) AS "p50",
        MIN(CASE WHEN "share" >= 0.95 THEN "durationMs" END) AS "p95",
        MIN(CASE WHEN "share" >= 0.99 THEN "durationMs" END) AS "p99",
        MIN("startedAt") AS "firstAt", MAX("startedAt") AS "lastAt",
        MAX(CASE WHEN "isError" = 1 THEN "startedAt" END) AS "lastErrorAt"
      FROM (
        SELECT "key", "isError", "durationMs", "startedAt",
          CUME_DIST() OVER (PARTITION BY "key" ORDER BY "durationMs") AS "share"
        FROM (SELECT ${key} AS "key", "isError", "durationMs", "startedAt" FROM (${calls}) AS "call") AS "keyed"
      ) AS "shared" GROUP BY "key"`),
  )

const durationsOf = ({ p50, p95, p99 }: z.infer<typeof FigureRow>): Durations => ({
  p50Ms: p50,
  p95Ms: p95,
  p99Ms: p99,
})

/** Every hour since `from`, also those without a call. */
const fillHours = <T extends HourCounts>(from: Date, known: readonly T[]): (T | HourCounts)[] => {
  const byTime = new Map(known.map(hour => [hour.startsAt.getTime(), hour]))
  return Array.from({ length: HOURS }, (_, index) => {
    const startsAt = new Date(from.getTime() + index * HOUR_MS)
    return byTime.get(startsAt.getTime()) ?? { startsAt, calls: 0, errors: 0 }
  })
}

/** What a cut leaves out was before the first call that was read. */
const extentOf = (calls: number, limit: number, from: Date, firstAt: Date | undefined) => {
  const isCut = calls >= limit && firstAt !== undefined
  return { isCut, since: isCut ? firstAt : from }
}

const countOfSome = async (
  db: Database,
  serverIds: readonly string[],
  from: Date,
): Promise<[serverId: string, counts: ServerCallCounts][]> => {
  const calls = join(
    serverIds.map(id => newestCalls(id, from, MAX_CALLS_IN_LIST)),
    ' UNION ALL ',
  )
  const byHour = await countBy(db, sql`"serverId" || ${'/'} || ${HOUR}`, calls)
  const byServer = await countTools(db, calls)
  return serverIds.map(id => {
    const known = byHour
      .filter(({ key }) => key.startsWith(`${id}/`))
      .map(({ key, ...counts }) => ({ ...counts, startsAt: toHour(key.slice(id.length + 1)) }))
    const tools = byServer.find(({ key }) => key === id)
    const total = known.reduce((sum, hour) => sum + hour.calls, 0)
    return [
      id,
      {
        ...extentOf(total, MAX_CALLS_IN_LIST, from, tools?.firstAt),
        calls: total,
        errors: known.reduce((sum, hour) => sum + hour.errors, 0),
        hours: fillHours(from, known),
        calledTools: tools?.called ?? 0,
        failingTools: tools?.failing ?? 0,
      },
    ]
  })
}

/**
 * Calls and errors of the last day. Each question reads a bounded number of a server's newest calls by the index on
 * server and time. Whoever asks has been let at the servers before.
 */
export const createCallFigureStore = (db: Database) => ({
  /** Of each of these servers, also those that were not called; in two queries for every four of them. */
  countOfServers: async (serverIds: readonly string[], now: Date): Promise<Map<string, ServerCallCounts>> => {
    const from = startOf(now)
    const counts = new Map<string, ServerCallCounts>()
    for (let first = 0; first < serverIds.length; first += SERVERS_AT_ONCE) {
      const some = await countOfSome(db, serverIds.slice(first, first + SERVERS_AT_ONCE), from)
      for (const [id, own] of some) counts.set(id, own)
    }
    return counts
  },

  /** Of one server, as a whole and by hour, with durations. */
  ofServer: async (serverId: string, now: Date): Promise<ServerCallFigures> => {
    const from = startOf(now)
    const calls = newestCalls(serverId, from, MAX_CALLS_OF_SERVER)
    const [[total], byHour] = await Promise.all([measureBy(db, sql`${'all'}`, calls), measureBy(db, HOUR, calls)])
    const hours = byHour.map(row => ({
      startsAt: toHour(row.key),
      calls: row.calls,
      errors: row.errors,
      ...durationsOf(row),
    }))
    return {
      ...extentOf(total?.calls ?? 0, MAX_CALLS_OF_SERVER, from, total?.firstAt),
      calls: total?.calls ?? 0,
      errors: total?.errors ?? 0,
      ...(total !== undefined && durationsOf(total)),
      hours: fillHours(from, hours),
    }
  },

  /** Of each tool of a server that was called, most calls first. */
  ofTools: async (serverId: string, now: Date): Promise<ToolCallFigures[]> => {
    const calls = newestCalls(serverId, startOf(now), MAX_CALLS_OF_SERVER)
    const rows = await measureBy(db, sql`"tool"`, calls)
    return rows
      .map(row => ({
        tool: row.key,
        calls: row.calls,
        errors: row.errors,
        ...durationsOf(row),
        lastCallAt: row.lastAt,
        isFailing: row.lastErrorAt?.getTime() === row.lastAt.getTime(),
      }))
      .sort((a, b) => b.calls - a.calls || a.tool.localeCompare(b.tool))
  },

  /** Which programs called a server, most calls first. */
  ofClients: async (serverId: string, now: Date): Promise<ClientCalls[]> => {
    const rows = await countBy(
      db,
      sql`COALESCE("client", ${''})`,
      newestCalls(serverId, startOf(now), MAX_CALLS_OF_SERVER),
    )
    const byName = Map.groupBy(rows, ({ key }) => key.replace(/\/[^/]*$/, ''))
    return [...byName]
      .map(([name, versions]) => ({
        client: name === '' ? undefined : name,
        calls: versions.reduce((sum, { calls }) => sum + calls, 0),
      }))
      .sort((a, b) => b.calls - a.calls)
  },
})

export type CallFigureStore = ReturnType<typeof createCallFigureStore>
