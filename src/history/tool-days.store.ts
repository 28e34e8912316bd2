import { removeInBatches } from '../lib/db/batches.ts'
import type { Database } from '../lib/db/client.ts'

/** Longest that sums are kept, in days: a year can be compared with the one before. */
const KEPT_DAYS = 800
const DAY_MS = 24 * 60 * 60 * 1_000
/** Names of tools that are read of a server: as many as it can have, and those that it had before. */
const MAX_TOOLS = 4_000

/** Of calls to tools. The tokens are those of `counted` calls alone: nobody knows what the others cost. */
export type TokenSums = {
  calls: number
  counted: number
  /** Had nothing been left out. */
  tokensBefore: number
  tokensSent: number
}
export type DaySums = TokenSums & { day: string }
export type ToolSums = TokenSums & { tool: string }

/** Days of UTC such as `2026-11-22`, both of them included. */
export type DayRange = { from: string; to: string }

export const dayOf = (time: Date): string => time.toISOString().slice(0, 10)

type Sums = { calls: number | null; counted: number | null; tokensBefore: bigint | null; tokensSent: bigint | null }

const toSums = ({ calls, counted, tokensBefore, tokensSent }: Sums): TokenSums => ({
  calls: calls ?? 0,
  counted: counted ?? 0,
  tokensBefore: Number(tokensBefore ?? 0),
  tokensSent: Number(tokensSent ?? 0),
})

const _sum = { calls: true, counted: true, tokensBefore: true, tokensSent: true } as const

/** What the calls of a server's tools cost. `organizationId`: whose server it is; another's has none. */
export const createToolDayStore = (db: Database) => {
  const within = (serverId: string, organizationId: string, { from, to }: DayRange) => ({
    serverId,
    server: { organizationId, removedAt: null },
    day: { gte: from, lte: to },
  })
  return {
    /** Days without a call are left out, the oldest is first. */
    listDays: async (serverId: string, organizationId: string, range: DayRange): Promise<DaySums[]> => {
      const where = within(serverId, organizationId, range)
      const rows = await db.toolDay.groupBy({ by: ['day'], where, _sum, orderBy: { day: 'asc' } })
      return rows.map(row => ({ day: row.day, ...toSums(row._sum) }))
    },
    /** Those that most was saved of first; then those that most was sent of. */
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

/** Removes what is older than it is kept. */
export const removeOldToolDays = (db: Database, now: Date, signal?: AbortSignal): Promise<void> => {
  const day = { lt: dayOf(new Date(now.getTime() - KEPT_DAYS * DAY_MS)) }
  return removeInBatches(limit => db.toolDay.deleteMany({ where: { day }, limit }), signal)
}
