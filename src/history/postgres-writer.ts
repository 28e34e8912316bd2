import { Client, DatabaseError } from 'pg'
import { toPgConfig } from '../lib/db/postgres.ts'
import type { PostgresTarget } from '../lib/db/target.ts'
import { RESERVED_TOOL_PREFIX } from '../lib/kernel/names.ts'
import { EXECUTION_COLUMNS, type ExecutionRow, POSITION } from './execution-row.ts'
import { EVENT_COLUMNS, type FailedCallRow, failedCallsOf, IS_WANTED } from './failed-calls.ts'
import type {
  BatchWriter,
  GapRow,
  MissingReason,
  RecordingBatch,
  RefusedRow,
  TokensRow,
  WriteOutcome,
} from './recording-batch.ts'

/** Time without a response after which the database server is considered gone. */
const QUERY_TIMEOUT_MS = 10_000
/** Shorter than PostgreSQL's deadlock_timeout of one second, so that a batch yields to a deletion. */
const LOCK_TIMEOUT_MS = 500

const toTime = (value: string): string => `to_timestamp((${value})::float8 / 1000) AT TIME ZONE 'UTC'`

/** Members of a row and of its tokens, in order. `otherwise` and `size` have no column: they are only added to the day. */
const COUNTED_MEMBERS = [
  ...EXECUTION_COLUMNS,
  'tokensBefore',
  'tokensSent',
  'otherwise',
  'tokensEstimated',
  'size',
] as const

/** Returns the SQL expression for a member. `fields` is a `CountedRow` as a JSON array. */
const field = (member: (typeof COUNTED_MEMBERS)[number]): string => `fields->>${COUNTED_MEMBERS.indexOf(member)}`

/** The SQL expression for each column. */
const EXECUTION_VALUES = {
  id: field('id'),
  serverId: field('serverId'),
  instanceId: field('instanceId'),
  tool: field('tool'),
  userId: field('userId'),
  client: field('client'),
  startedAt: toTime(field('startedAt')),
  durationMs: `(${field('durationMs')})::float8`,
  outcome: `(${field('outcome')})::"Outcome"`,
  status: `(${field('status')})::int`,
  requestBytes: `(${field('requestBytes')})::int`,
  responseBytes: `(${field('responseBytes')})::int`,
  error: field('error'),
  request: field('request'),
  result: `(${field('result')})::"CallResult"`,
  arguments: field('arguments'),
  tokensBefore: `(${field('tokensBefore')})::int`,
  tokensSent: `(${field('tokensSent')})::int`,
  tokensEstimated: `(${field('tokensEstimated')})::boolean`,
}

/** The SQL expressions for the columns of a `GapRow`. */
const GAP_VALUES = {
  id: 'fields->>0',
  serverId: 'fields->>1',
  missing: '(fields->>2)::int',
  from: toTime('fields->>3'),
  to: toTime('fields->>4'),
  reason: 'fields->>5',
}

/** The most tokens of a 2xx response, which is a maximum. All other amounts of a day are sums. */
const LARGEST = 'largest'

const addAmount = (name: string): string =>
  name === LARGEST
    ? `"${name}" = GREATEST("ToolDay"."${name}", excluded."${name}")`
    : `"${name}" = "ToolDay"."${name}" + excluded."${name}"`

/** SQL condition for the calls that `isSuccess` accepts. */
const IS_SUCCESS = '"status" BETWEEN 200 AND 299'

const NOW = `now() AT TIME ZONE 'UTC'`

/**
 * Returns SQL that adds amounts to the sums per tool and day. `from` selects executions. Skips passthrough requests and
 * calls that `isNameKnown` rejects. The fixed order prevents deadlocks between processes.
 */
const addToDays = (amounts: Record<string, string>, from: string): string => {
  const names = Object.keys(amounts)
  const key = `"serverId", to_char("startedAt", 'YYYY-MM-DD'), "tool"`
  return `
    INSERT INTO "ToolDay" ("id", "serverId", "day", "tool", ${names.map(name => `"${name}"`).join(', ')}, "createdAt", "updatedAt")
    SELECT gen_random_uuid()::text, ${key}, ${Object.values(amounts).join(', ')}, ${NOW}, ${NOW}
    FROM ${from} WHERE "tool" <> '' AND ("instanceId" IS NOT NULL OR "outcome" = 'ok' OR starts_with("tool", '${RESERVED_TOOL_PREFIX}')) GROUP BY ${key} ORDER BY ${key}
    ON CONFLICT ("serverId", "day", "tool") DO UPDATE SET
      ${names.map(addAmount).join(', ')}, "updatedAt" = excluded."updatedAt"`
}

/**
 * Returns a statement for any number of rows, so that it is prepared once. Its only parameter is a
 * JSON array of rows. The join drops rows of deleted servers; its lock protects the other servers
 * from deletion until the rows are inserted. Gaps have their server's id in the same position. `besides` is a query on the newly inserted rows.
 */
const insertRows = (table: string, values: Record<string, string>, besides?: string): string => {
  const names = [...Object.keys(values), 'createdAt', 'updatedAt'].map(name => `"${name}"`).join(', ')
  return `
    WITH kept AS MATERIALIZED (
      SELECT ${[...Object.values(values), NOW, NOW].join(', ')}
      FROM jsonb_array_elements($1::jsonb) AS item(fields)
      JOIN "Server" ON "Server"."id" = ${field('serverId')}
      FOR KEY SHARE OF "Server"
    ), inserted AS (
      INSERT INTO "${table}" (${names}) SELECT * FROM kept ON CONFLICT DO NOTHING RETURNING *
    )${besides === undefined ? '' : `, besides AS (${besides})`}
    SELECT count(*)::int AS kept FROM kept`
}

const INSERT_EXECUTIONS = {
  name: 'insert-executions',
  text: insertRows(
    'Execution',
    EXECUTION_VALUES,
    addToDays(
      {
        calls: 'count(*)',
        counted: 'count("tokensSent")',
        estimated: 'count(*) FILTER (WHERE "tokensEstimated")',
        tokensSent: 'coalesce(sum("tokensSent"), 0)',
        tokensBefore: 'coalesce(sum("otherwise"), 0)',
        succeeded: `count("tokensSent") FILTER (WHERE ${IS_SUCCESS})`,
        [LARGEST]: `coalesce(max("size") FILTER (WHERE ${IS_SUCCESS}), 0)`,
      },
      `(SELECT inserted.*, (${field('otherwise')})::int AS "otherwise", (${field('size')})::int AS "size"
        FROM inserted JOIN jsonb_array_elements($1::jsonb) AS item(fields) ON ${field('id')} = inserted."id") AS counted`,
    ),
  ),
}
const INSERT_GAPS = { name: 'insert-gaps', text: insertRows('ExecutionGap', GAP_VALUES) }

/** Puts failed calls, as rows of type `FailedCallRow`, into the outbox if somebody wants to know about them. */
const ENTER_FAILED_CALLS = {
  name: 'enter-failed-calls',
  text: `
    INSERT INTO "Event" (${EVENT_COLUMNS})
    SELECT fields->>0, "Server"."organizationId", 'call.failed', fields->>3, ${toTime('fields->>2')}, false, ${NOW}, ${NOW}
    FROM jsonb_array_elements($1::jsonb) AS item(fields) JOIN "Server" ON "Server"."id" = fields->>1
    WHERE ${IS_WANTED}
    ON CONFLICT DO NOTHING`,
}

/** Adds tokens from rows of type `TokensRow` to calls. Skips calls that already have tokens. */
const ADD_TOKENS = {
  name: 'add-tokens',
  text: `
    WITH item AS (
      SELECT fields->>0 AS "id", (fields->>1)::int AS "before", (fields->>2)::int AS "sent", (fields->>3)::int AS "otherwise", (fields->>4)::boolean AS "estimated", (fields->>5)::int AS "size"
      FROM jsonb_array_elements($1::jsonb) AS element(fields)
    ), counted AS (
      UPDATE "Execution" SET "tokensBefore" = item."before", "tokensSent" = item."sent", "tokensEstimated" = item."estimated", "updatedAt" = ${NOW}
      FROM item WHERE "Execution"."id" = item."id" AND "Execution"."tokensSent" IS NULL
      RETURNING "serverId", "instanceId", "outcome", "status", "startedAt", "tool", item."sent", item."otherwise", item."estimated", item."size"
    )${addToDays(
      {
        counted: 'count(*)',
        estimated: 'count(*) FILTER (WHERE "estimated")',
        tokensSent: 'sum("sent")',
        tokensBefore: 'sum("otherwise")',
        succeeded: `count(*) FILTER (WHERE ${IS_SUCCESS})`,
        [LARGEST]: `coalesce(max("size") FILTER (WHERE ${IS_SUCCESS}), 0)`,
      },
      'counted',
    )}`,
}

/**
 * Returns whether the values of a row caused the error: a data exception or a constraint violation (PostgreSQL,
 * appendix A, classes 22 and 23).
 */
const isRowAtFault = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && /^2[23]/.test(error.code ?? '')

const reasonOf = (error: unknown): MissingReason => {
  const code = error instanceof DatabaseError ? error.code : undefined
  // lock_not_available, deadlock_detected or serialization_failure. 53100 is disk_full.
  if (code === '55P03' || code === '40P01' || code === '40001') return 'the database was locked'
  return code === '53100' ? 'the database was full' : 'the database was unavailable'
}

/** A row and its tokens, which are null if they have not been counted. */
type CountedRow = readonly [
  ...ExecutionRow,
  ...([number | null, number, number, 0 | 1, number] | [null, null, null, null, null]),
]

const NOT_COUNTED = [null, null, null, null, null] as const

type Written = { kept: number; refused: RefusedRow[] }

const insertExecutions = async (client: Client, rows: readonly CountedRow[]): Promise<Written> => {
  if (rows.length === 0) return { kept: 0, refused: [] }
  try {
    const { rows: counted } = await client.query<{ kept: number }>({
      ...INSERT_EXECUTIONS,
      values: [JSON.stringify(rows)],
    })
    return { kept: counted[0]?.kept ?? 0, refused: [] }
  } catch (error) {
    if (!isRowAtFault(error)) throw error
    const [first] = rows
    if (first !== undefined && rows.length === 1) {
      return {
        kept: 0,
        refused: [{ serverId: first[POSITION.serverId], startedAt: first[POSITION.startedAt], message: error.message }],
      }
    }
    // Halving finds bad rows in a few attempts.
    const middle = rows.length >> 1
    const left = await insertExecutions(client, rows.slice(0, middle))
    const right = await insertExecutions(client, rows.slice(middle))
    return { kept: left.kept + right.kept, refused: [...left.refused, ...right.refused] }
  }
}

/** Runs a prepared statement on rows, if there are any. */
const writeRows = async (
  client: Client,
  statement: typeof INSERT_GAPS,
  rows: GapRow[] | TokensRow[] | FailedCallRow[],
): Promise<void> => {
  if (rows.length > 0) await client.query({ ...statement, values: [JSON.stringify(rows)] })
}

/**
 * Creates a writer with its own connection. It writes each batch with one statement per table, and reconnects after a
 * failure.
 */
export const createPostgresWriter = (target: PostgresTarget): BatchWriter => {
  let connection: Client | undefined

  const disconnect = async (): Promise<void> => {
    const closing = connection
    connection = undefined
    await closing?.end().catch(() => undefined)
  }

  const connect = async (): Promise<Client> => {
    if (connection !== undefined) return connection
    const client = new Client({
      ...toPgConfig(target),
      application_name: 'patchbay history',
      query_timeout: QUERY_TIMEOUT_MS,
    })
    // Without a listener, a lost connection would end the thread.
    client.on('error', () => {
      if (connection === client) connection = undefined
    })
    connection = client
    await client.connect()
    await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`)
    return client
  }

  const write = async ({ executions, gaps, tokens }: RecordingBatch): Promise<WriteOutcome> => {
    const client = await connect()
    const counts = new Map(tokens.map(([id, ...amounts]) => [id, amounts]))
    const rows = executions.map((row): CountedRow => [...row, ...(counts.get(row[POSITION.id]) ?? NOT_COUNTED)])
    const { kept, refused } = await insertExecutions(client, rows)
    await writeRows(client, INSERT_GAPS, gaps)
    await writeRows(client, ENTER_FAILED_CALLS, failedCallsOf(executions))
    // The rows inserted above already have their tokens, so this statement skips them.
    await writeRows(client, ADD_TOKENS, tokens)
    return { kind: 'written', dropped: executions.length - kept - refused.length, refused }
  }

  return {
    write: async batch => {
      try {
        return await write(batch)
      } catch (error) {
        const reason = reasonOf(error)
        // Do not wait for it, because a server that is gone never responds.
        if (reason !== 'the database was locked') void disconnect()
        return { kind: 'failed', reason, message: String(error) }
      }
    },
    close: disconnect,
  }
}
