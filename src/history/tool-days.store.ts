import { removeInBatches } from '../lib/db/batches.ts'
import type { Database, Transaction } from '../lib/db/client.ts'
import { DAY_MS } from '../lib/kernel/durations.ts'

/** How long sums are stored, in days: enough to compare two years. */
const KEPT_DAYS = 800
/** Maximum number of tool names read for a server: as many as it can have, plus former ones. */
const MAX_TOOLS = 4_000

/** Sums of tool calls. The token sums cover only the `counted` calls. */
export type TokenSums = {
  calls: number
  counted: number
  /** The number of `counted` calls whose tokens are estimates. */
  estimated: number
  /** Tokens that would have been sent without truncation. */
  tokensBefore: number
  tokensSent: number
}
export type DaySums = TokenSums & { day: string }
export type ToolSums = TokenSums & { tool: string }

/** A range of days in UTC, such as `2026-11-22`. Both ends are inclusive. */
export type DayRange = { from: string; to: string }

export const dayOf = (time: Date): string => time.toISOString().slice(0, 10)

type Sums = Record<'calls' | 'counted' | 'estimated', number | null> &
  Record<'tokensBefore' | 'tokensSent', bigint | null>

const toSums = ({ calls, counted, estimated, tokensBefore, tokensSent }: Sums): TokenSums => ({
  calls: calls ?? 0,
  counted: counted ?? 0,
  estimated: estimated ?? 0,
  tokensBefore: Number(tokensBefore ?? 0),
  tokensSent: Number(tokensSent ?? 0),
})

const _sum = { calls: true, counted: true, estimated: true, tokensBefore: true, tokensSent: true } as const

/** Reads the token sums of a server's tools. `organizationId` must be the server's organization. */
export const createToolDayStore = (db: Database) => {
  const within = (serverId: string, organizationId: string, { from, to }: DayRange) => ({
    serverId,
    server: { organizationId, removedAt: null },
    day: { gte: from, lte: to },
  })
  return {
    /** Lists days with calls, oldest first. */
    listDays: async (serverId: string, organizationId: string, range: DayRange): Promise<DaySums[]> => {
      const where = within(serverId, organizationId, range)
      const rows = await db.toolDay.groupBy({ by: ['day'], where, _sum, orderBy: { day: 'asc' } })
      return rows.map(row => ({ day: row.day, ...toSums(row._sum) }))
    },
    /** Lists tools, sorted by tokens saved and then by tokens sent. */
    listTools: async (serverId: string, organizationId: string, range: DayRange): Promise<ToolSums[]> => {
      const where = within(serverId, organizationId, range)
      const rows = await db.toolDay.groupBy({
        by: ['tool'],
        where,
        _sum,
        orderBy: [{ _sum: { tokensBefore: 'desc' } }, { tool: 'asc' }],
        take: MAX_TOOLS,
      })
      const savedOf = ({ tokensBefore, tokensSent }: TokenSums): number => tokensBefore - tokensSent
      return rows
        .map(row => ({ tool: row.tool, ...toSums(row._sum) }))
        .sort((a, b) => savedOf(b) - savedOf(a) || b.tokensSent - a.tokensSent || a.tool.localeCompare(b.tool))
    },
  }
}

/** Days of use that decide which tools are used most. */
const USE_DAYS = 30
/** Maximum number of names returned, more than are shown, because some of the tools may not exist any more. */
const MAX_MOST_USED = 200

/**
 * Lists the names of a server's tools, most used first. Counts whole days until yesterday, so the order changes once a
 * day.
 */
export const listMostUsed = async (tx: Transaction, serverId: string, now: Date): Promise<string[]> => {
  const dayBefore = (days: number): string => dayOf(new Date(now.getTime() - days * DAY_MS))
  const rows = await tx.toolDay.groupBy({
    by: ['tool'],
    where: { serverId, day: { gte: dayBefore(USE_DAYS), lte: dayBefore(1) } },
    _sum: { calls: true },
    orderBy: [{ _sum: { calls: 'desc' } }, { tool: 'asc' }],
    take: MAX_MOST_USED,
  })
  return rows.map(({ tool }) => tool)
}

/** Removes sums that are older than the retention period. */
export const removeOldToolDays = (db: Database, now: Date, signal?: AbortSignal): Promise<void> => {
  const day = { lt: dayOf(new Date(now.getTime() - KEPT_DAYS * DAY_MS)) }
  return removeInBatches(limit => db.toolDay.deleteMany({ where: { day }, limit }), signal)
}
