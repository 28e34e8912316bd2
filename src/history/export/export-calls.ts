import { raw, sqltag as sql } from '@prisma/client/runtime/client'
import type { Database } from '../../lib/db/client.ts'
import { type RawQuery, toRawQuery } from '../../lib/db/raw-reader.ts'
import { type CallRange, NEWEST_FIRST, rangesOf, within } from '../query/call-ranges.ts'
import { findText } from '../query/call-text.ts'
import { among, type Selection } from '../query/conditions.ts'
import { CSV_HEADER } from './csv.ts'
import { EXPORTED_COLUMNS } from './export-row.ts'
import type { ExportFormat } from './format-calls.ts'

/** Calls per query. The next query reads as many as should have `WANTED_CHARACTERS` of text. */
const FIRST_CALLS = 500
const MOST_CALLS = 5_000
const FEWEST_CALLS = 50
const CALLS_WITH_TEXT = 500
const WANTED_CHARACTERS = 2 * 1_024 * 1_024

const COLUMNS = raw(EXPORTED_COLUMNS.map(name => `"${name}"`).join(', '))

/** Writes the calls of a query as text, in a thread. */
export type FormatCalls = (query: RawQuery) => Promise<string>

const queryOf = async (db: Database, selection: Selection, range: CallRange): Promise<RawQuery> => {
  const { q } = selection
  if (q === undefined) {
    return toRawQuery(sql`SELECT ${COLUMNS} FROM "Execution" WHERE ${within(selection, range)} ${NEWEST_FIRST}`)
  }
  const ids = (await findText(db, selection, range, q)).map(({ id }) => id)
  return toRawQuery(sql`SELECT ${COLUMNS} FROM "Execution" WHERE ${among(sql`"id"`, ids)} ${NEWEST_FIRST}`)
}

/** Yields the text of all calls of a selection, a range at a time. */
async function* textsOf(db: Database, selection: Selection, formatCalls: FormatCalls): AsyncGenerator<string> {
  const most = selection.q === undefined ? MOST_CALLS : CALLS_WITH_TEXT
  let size = FIRST_CALLS
  for await (const range of rangesOf(db, selection, undefined, () => size)) {
    const text = await formatCalls(await queryOf(db, selection, range))
    const wanted = Math.floor((size * WANTED_CHARACTERS) / Math.max(1, text.length))
    size = Math.min(most, Math.max(FEWEST_CALLS, wanted))
    if (text !== '') yield text
  }
}

/** Yields values, and fetches each while the one before it is used. */
async function* oneAhead<T>(values: AsyncGenerator<T>): AsyncGenerator<T> {
  const fetchNext = (): Promise<IteratorResult<T>> => {
    const next = values.next()
    // Nobody waits for it while the reader is slow or has left, and an unhandled failure would end the process.
    next.catch(() => undefined)
    return next
  }
  let next = fetchNext()
  try {
    for (let current = await next; current.done !== true; current = await next) {
      next = fetchNext()
      yield current.value
    }
  } finally {
    await values.return(undefined)
  }
}

/**
 * Yields all calls of a selection as a file, newest first. Reads at most one range of calls ahead, so a slow reader
 * costs no memory, and no query runs longer than for one range. Calls that are recorded meanwhile are newer, so they
 * are left out.
 */
export async function* exportCalls(
  db: Database,
  selection: Selection,
  format: ExportFormat,
  formatCalls: FormatCalls,
): AsyncGenerator<string> {
  if (format === 'csv') yield CSV_HEADER
  if (format === 'json') yield '['
  let separator = '\n'
  for await (const text of oneAhead(textsOf(db, selection, formatCalls))) {
    yield format === 'json' ? `${separator}${text}` : text
    separator = ',\n'
  }
  if (format === 'json') yield '\n]\n'
}
