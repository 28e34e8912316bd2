import { empty, type Sql, sqltag as sql } from '@prisma/client/runtime/client'
import { z } from 'zod'
import type { Database } from '../../lib/db/client.ts'
import { decodeCursor, encodeCursor } from '../../lib/http/paging.ts'
import type { Selection } from './conditions.ts'

/** The place of a call in the history: lists are sorted by time and then by id, newest first. */
export type CallKey = { startedAt: Date; id: string }

/** Calls older than `after`, down to and including `until`. Undefined: from the newest, and to the oldest. */
export type CallRange = { after: CallKey | undefined; until: CallKey | undefined; rows: number }

export const NEWEST_FIRST = sql`ORDER BY "startedAt" DESC, "id" DESC`

const KeyRow = z.object({ startedAt: z.coerce.date(), id: z.string() })

const olderThan = ({ startedAt, id }: CallKey): Sql => sql` AND ("startedAt", "id") < (${startedAt}, ${id})`
const downTo = ({ startedAt, id }: CallKey): Sql => sql` AND ("startedAt", "id") >= (${startedAt}, ${id})`

/**
 * Selects the calls of a range, before the other conditions are checked. SQLite uses one bound of each side, so there is
 * only one: without that of the range, each range would be read from the newest call again.
 */
const inRange = ({ base, from, to }: Selection, { after, until }: Pick<CallRange, 'after' | 'until'>): Sql => {
  const isWithin = after !== undefined && (to === undefined || after.startedAt < to)
  const upper = isWithin ? olderThan(after) : to === undefined ? empty : sql` AND "startedAt" < ${to}`
  const lower = until !== undefined ? downTo(until) : from === undefined ? empty : sql` AND "startedAt" >= ${from}`
  return sql`${base}${upper}${lower}`
}

/** Selects the calls of a range that match. */
export const within = (selection: Selection, range: Pick<CallRange, 'after' | 'until'>): Sql =>
  selection.rest === undefined ? inRange(selection, range) : sql`${inRange(selection, range)} AND ${selection.rest}`

/**
 * Yields ranges of the calls of a selection, newest first, each with as many calls as `sizeOf` says before its other
 * conditions are checked. Only the index is read, and one range at a time, so a caller can stop at any time.
 */
export async function* rangesOf(
  db: Database,
  selection: Selection,
  start: CallKey | undefined,
  sizeOf: (index: number) => number,
): AsyncGenerator<CallRange> {
  let after = start
  for (let index = 0; ; index++) {
    const size = sizeOf(index)
    const [last] = z.array(KeyRow).parse(
      await db.$queryRaw(sql`
        SELECT "startedAt", "id" FROM "Execution" WHERE ${inRange(selection, { after, until: undefined })}
        ${NEWEST_FIRST} LIMIT 1 OFFSET ${size - 1}`),
    )
    yield { after, until: last, rows: size }
    if (last === undefined) return
    after = last
  }
}

/** Returns the keys of the calls in a range that match, newest first. Does not check the search text. */
export const listKeys = async (
  db: Database,
  selection: Selection,
  range: Pick<CallRange, 'after' | 'until'>,
  limit: number,
): Promise<CallKey[]> =>
  z.array(KeyRow).parse(
    await db.$queryRaw(sql`
      SELECT "startedAt", "id" FROM "Execution" WHERE ${within(selection, range)} ${NEWEST_FIRST} LIMIT ${limit}`),
  )

const CURSOR = z.tuple([z.iso.datetime().transform(text => new Date(text)), z.uuid()])

/** Decodes the cursor of a list of calls. Throws `invalid_request` if it is invalid. */
export const decodeCallCursor = (cursor: string | undefined): CallKey | undefined => {
  const key = decodeCursor(cursor, CURSOR)
  return key && { startedAt: key[0], id: key[1] }
}

export const encodeCallCursor = ({ startedAt, id }: CallKey): string => encodeCursor([startedAt, id])
