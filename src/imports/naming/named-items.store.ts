import { join, sqltag as sql } from '@prisma/client/runtime/client'
import { z } from 'zod'
import type { Transaction } from '../../lib/db/client.ts'
import type { NameableOperation } from './naming.ts'

const text = z.string().nullable()

const Row = z
  .object({
    position: z.coerce.number(),
    key: z.string(),
    ...{ method: z.string(), path: z.string(), operationId: text, summary: text, tags: z.string() },
    ...{ name: z.string(), generated: z.string(), edited: text },
  })
  .transform(({ operationId, summary, tags, edited, ...row }) => ({
    ...row,
    operationId: operationId ?? undefined,
    summary: summary ?? undefined,
    tags: z.array(z.string()).parse(JSON.parse(tags)),
    edited: edited ?? undefined,
  }))

/** A new operation that can become a tool. */
export type NameableItem = NameableOperation & {
  position: number
  key: string
  summary: string | undefined
  /** The name that its tool has unless the builder has changed it. */
  name: string
  /** The name that the builder gave it. */
  edited: string | undefined
}

/** Lists new operations in the order of the source, after a position. Reads the names only, as tools are large. */
export const listNameable = async (
  tx: Transaction,
  importId: string,
  { limit, after }: { limit: number; after: number },
): Promise<NameableItem[]> => {
  const rows = await tx.$queryRaw(sql`
    SELECT "position", "key", "method", "path", "operationId", "summary", "tags", "name",
      "tool" ->> 'name' AS "generated", "edits" ->> 'name' AS "edited"
    FROM "ImportItem"
    WHERE "importId" = ${importId} AND "position" > ${after} AND "state" = 'new' AND "reason" IS NULL
    ORDER BY "position" LIMIT ${limit}`)
  return z.array(Row).parse(rows)
}

/** Lists the names of the tools of a toolkit. */
export const listToolNames = async (tx: Transaction, toolkitId: string): Promise<string[]> =>
  (await tx.tool.findMany({ where: { toolkitId }, select: { name: true } })).map(({ name }) => name)

/** A name for the tool of an operation, and how many more tokens the tool has with it. */
export type ItemName = { position: number; name: string; searchText: string; moreTokens: number }

/** Stores names of tools. */
export const updateNames = async (tx: Transaction, importId: string, names: readonly ItemName[]): Promise<void> => {
  const values = names.map(
    ({ position, name, searchText, moreTokens }) =>
      sql`(CAST(${position} AS INTEGER), ${name}, ${searchText}, CAST(${moreTokens} AS INTEGER))`,
  )
  // Both databases name the columns of VALUES like this.
  await tx.$executeRaw(sql`
    UPDATE "ImportItem" SET "name" = "given"."column2", "searchText" = "given"."column3",
      "tokens" = "tokens" + "given"."column4"
    FROM (VALUES ${join(values)}) AS "given"
    WHERE "importId" = ${importId} AND "position" = "given"."column1"`)
}
