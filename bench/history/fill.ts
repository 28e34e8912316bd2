/** Fills the history of a database directly, much faster than calls would. */
import Sqlite from 'better-sqlite3'
import { Client } from 'pg'
import { createCallSums, createClientNames } from '../../src/history/sums/call-sums.ts'
import { storePostgresSums } from '../../src/history/sums/postgres-sums.ts'
import { createSqliteSums } from '../../src/history/sums/sqlite-sums.ts'
import { toTimeText } from '../../src/lib/db/sqlite-time.ts'
import type { Call } from './calls.ts'

/** The columns and the types of their arrays on PostgreSQL. */
const COLUMNS = {
  id: 'text',
  serverId: 'text',
  organizationId: 'text',
  instanceId: 'text',
  tool: 'text',
  userId: 'text',
  client: 'text',
  startedAt: 'timestamp',
  durationMs: 'float8',
  outcome: '"Outcome"',
  status: 'int',
  result: '"CallResult"',
  requestId: 'text',
  requestBytes: 'int',
  responseBytes: 'int',
  error: 'text',
  request: 'text',
  arguments: 'text',
  timing: 'text',
  tokensBefore: 'int',
  tokensSent: 'int',
  createdAt: 'timestamp',
  updatedAt: 'timestamp',
}
const NAMES = Object.keys(COLUMNS)
  .map(name => `"${name}"`)
  .join(', ')

const valuesOf = (call: Call, time: string): (string | number | null)[] => [
  call.id,
  call.serverId,
  call.organizationId,
  call.instanceId,
  call.tool,
  call.userId,
  call.client,
  time,
  call.durationMs,
  call.outcome,
  call.status,
  call.result,
  call.requestId,
  call.requestBytes,
  call.responseBytes,
  call.error,
  call.request,
  call.arguments,
  call.timing,
  call.tokens.otherwise,
  call.tokens.sent,
  time,
  time,
]

/** Rows of a transaction: about an hour of calls, whose sums are then added once. */
const CALLS_AT_ONCE = 5_000

function* inParts(calls: Iterable<Call>): Generator<Call[]> {
  let part: Call[] = []
  for (const call of calls) {
    part.push(call)
    if (part.length < CALLS_AT_ONCE) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}

const sumUp = (part: readonly Call[]) => {
  const sums = createCallSums(createClientNames())
  for (const call of part) sums.addCall(call, call.tokens)
  return sums
}

/** Fills an SQLite file that no process has open. The indexes are made afterwards, which is faster. */
export const fillSqlite = (file: string, calls: Iterable<Call>): void => {
  const db = new Sqlite(file)
  db.exec('PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -200000;')
  const indexes = db
    .prepare<[], [string, string]>(
      `SELECT "name", "sql" FROM "sqlite_master" WHERE "type" = 'index' AND "tbl_name" = 'Execution' AND "sql" IS NOT NULL`,
    )
    .raw()
    .all()
  for (const [name] of indexes) db.exec(`DROP INDEX "${name}"`)
  const insert = db.prepare(
    `INSERT INTO "Execution" (${NAMES}) VALUES (${Object.keys(COLUMNS)
      .map(() => '?')
      .join(', ')})`,
  )
  const storeSums = createSqliteSums(db)
  const now = Date.now()
  const fillPart = db.transaction((part: readonly Call[]) => {
    for (const call of part) insert.run(valuesOf(call, toTimeText(call.startedAt)))
    storeSums(sumUp(part), now)
  })
  for (const part of inParts(calls)) fillPart(part)
  for (const [, sql] of indexes) db.exec(sql)
  db.exec('ANALYZE; PRAGMA wal_checkpoint(TRUNCATE);')
  db.close()
}

/** Fills a PostgreSQL database that no process uses. */
export const fillPostgres = async (url: string, calls: Iterable<Call>): Promise<void> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows: indexes } = await client.query<{ indexname: string; indexdef: string }>(
    `SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'Execution' AND indexname NOT LIKE '%_pkey'`,
  )
  for (const { indexname } of indexes) await client.query(`DROP INDEX "${indexname}"`)
  // Foreign keys are checked by triggers, which this turns off.
  await client.query('SET session_replication_role = replica')
  const arrays = Object.values(COLUMNS).map((type, index) => `$${index + 1}::text[]::${type}[]`)
  const text = `INSERT INTO "Execution" (${NAMES}) SELECT * FROM unnest(${arrays.join(', ')})`
  const now = Date.now()
  for (const part of inParts(calls)) {
    const rows = part.map(call => valuesOf(call, new Date(call.startedAt).toISOString()))
    const columns = Object.keys(COLUMNS).map((_, column) => rows.map(row => row[column] ?? null))
    await client.query('BEGIN')
    await client.query({ name: 'fill', text, values: columns })
    await storePostgresSums(client, sumUp(part), now)
    await client.query('COMMIT')
  }
  for (const { indexdef } of indexes) await client.query(indexdef)
  await client.query('VACUUM ANALYZE')
  await client.end()
}
