import { type Sql, sqltag as sql } from '@prisma/client/runtime/client'
import { z } from 'zod'
import type { Database } from '../../lib/db/client.ts'
import { findInBodies } from '../bodies/call-bodies.store.ts'
import { type CallKey, type CallRange, NEWEST_FIRST, within } from './call-ranges.ts'
import { anyOf, type Selection } from './conditions.ts'

const escapeWildcards = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

const contains = (column: Sql, text: string): Sql =>
  sql`LOWER(${column}) LIKE LOWER(${`%${escapeWildcards(text)}%`}) ESCAPE '\\'`

/**
 * Selects calls that may contain the text. A text within JSON is escaped there, so both spellings are looked for. Names
 * of the JSON's members match too, so the texts themselves must be checked.
 */
const mayContain = (text: string): Sql => {
  const spellings = new Set([text, JSON.stringify(text).slice(1, -1)])
  return anyOf(
    [sql`"error"`, sql`"request"`, sql`"arguments"`].flatMap(column =>
      [...spellings].map(spelling => contains(column, spelling)),
    ),
  )
}

const HAS_BODIES = sql`EXISTS (SELECT 1 FROM "CallBodies" WHERE "executionId" = "Execution"."id")`

const TextRow = z.object({
  startedAt: z.coerce.date(),
  id: z.string(),
  error: z.string().nullable(),
  request: z.string().nullable(),
  arguments: z.string().nullable(),
  // A number on SQLite.
  hasBodies: z.coerce.boolean(),
})

const Request = z.object({
  method: z.string(),
  url: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.string().optional(),
})
const Arguments = z.object({ values: z.record(z.string(), z.json()) })

/** Returns the texts of a call: those of its error and request, and its arguments as JSON. */
const textsOf = (row: z.infer<typeof TextRow>): string[] => {
  const request = row.request === null ? undefined : Request.parse(JSON.parse(row.request))
  const given = row.arguments === null ? undefined : Arguments.parse(JSON.parse(row.arguments))
  return [
    ...(row.error === null ? [] : [row.error]),
    ...(request === undefined ? [] : [request.method, request.url, ...request.headers.flat(), request.body ?? '']),
    ...(given === undefined ? [] : [JSON.stringify(given.values), ...Object.values(given.values).filter(isText)]),
  ]
}

const isText = (value: unknown): value is string => typeof value === 'string'

/**
 * Finds the calls of a range that contain the text, ignoring case (on SQLite, only that of ASCII letters, except in
 * bodies, which are decrypted here).
 */
export const findText = async (
  db: Database,
  selection: Selection,
  range: Pick<CallRange, 'after' | 'until'>,
  text: string,
): Promise<CallKey[]> => {
  const rows = z.array(TextRow).parse(
    await db.$queryRaw(sql`
      SELECT "startedAt", "id", "error", "request", "arguments", ${HAS_BODIES} AS "hasBodies" FROM "Execution"
      WHERE ${within(selection, range)} AND (${mayContain(text)} OR ${HAS_BODIES}) ${NEWEST_FIRST}`),
  )
  const wanted = text.toLowerCase()
  const matches = (one: string): boolean => one.toLowerCase().includes(wanted)
  const found = new Set(rows.filter(row => textsOf(row).some(matches)).map(({ id }) => id))
  const unread = rows.filter(row => row.hasBodies && !found.has(row.id)).map(({ id }) => id)
  for (const id of await findInBodies(db, selection.openBodies, unread, matches)) found.add(id)
  return rows.filter(({ id }) => found.has(id))
}
