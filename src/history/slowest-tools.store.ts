import { sqltag as sql } from '@prisma/client/runtime/client'
import { z } from 'zod'
import type { Database } from '../lib/db/client.ts'

/** Newest calls of the installation that are looked at, by the primary key. */
export const CALLS_LOOKED_AT = 5_000
const MAX_TOOLS = 10

const number = z.coerce.number()
const Row = z.object({
  serverId: z.string(),
  server: z.string(),
  tool: z.string(),
  calls: number,
  mean: number,
  longest: number,
})
/** A tool of a server. `mean` and `longest` are durations in ms. */
export type SlowTool = z.infer<typeof Row>

/** Lists the tools with the longest calls on average, of the newest calls in all organizations. For the operator only. */
export const listSlowestTools = async (db: Database): Promise<SlowTool[]> =>
  z.array(Row).parse(
    await db.$queryRaw(sql`
      SELECT "call"."serverId", "Server"."name" AS "server", "call"."tool", COUNT(*) AS "calls",
        AVG("call"."durationMs") AS "mean", MAX("call"."durationMs") AS "longest"
      FROM (SELECT "serverId", "tool", "durationMs" FROM "Execution" ORDER BY "id" DESC LIMIT ${CALLS_LOOKED_AT}) AS "call"
      JOIN "Server" ON "Server"."id" = "call"."serverId" AND "Server"."removedAt" IS NULL
      GROUP BY "call"."serverId", "Server"."name", "call"."tool"
      ORDER BY "mean" DESC LIMIT ${MAX_TOOLS}`),
  )
