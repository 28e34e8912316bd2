import { RESERVED_TOOL_PREFIX } from '../lib/kernel/names.ts'
import { EXECUTION_COLUMNS } from './execution-row.ts'
import type { SummedCall } from './sums/call-sums.ts'
import { NOW, toTime } from './sums/postgres-sums.ts'

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
  requestId: field('requestId'),
  tokenId: field('tokenId'),
  timing: field('timing'),
  attempts: field('attempts'),
  organizationId: '"Server"."organizationId"',
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
 * from deletion until the rows are inserted. Gaps have their server's id in the same position. `besides` is a query on
 * the newly inserted rows. Returns the number of rows whose server exists, and the ids of the rows that are new.
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
    SELECT (SELECT count(*)::int FROM kept) AS kept, (SELECT array_agg("id") FROM inserted) AS inserted`
}

/** Inserts rows of type `CountedRow`, and adds them to the sums per tool and day. */
export const INSERT_EXECUTIONS = {
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
export const INSERT_GAPS = { name: 'insert-gaps', text: insertRows('ExecutionGap', GAP_VALUES) }

/** Inserts rows of type `BodiesRow`. The join drops those whose call was dropped, refused or deleted. */
export const INSERT_BODIES = {
  name: 'insert-bodies',
  text: `
    INSERT INTO "CallBodies" ("executionId", "content", "keyId", "createdAt", "updatedAt")
    SELECT "Execution"."id", fields->>1, fields->>2, ${NOW}, ${NOW}
    FROM jsonb_array_elements($1::jsonb) AS item(fields)
    JOIN "Execution" ON "Execution"."id" = fields->>0
    FOR KEY SHARE OF "Execution"
    ON CONFLICT DO NOTHING`,
}

/** The columns of a `SummedCall`. */
const SUMMED_COLUMNS = [
  'serverId',
  'instanceId',
  'tool',
  'userId',
  'client',
  'startedAt',
  'durationMs',
  'outcome',
  'status',
  'result',
] as const satisfies (keyof SummedCall)[]

/** Times as milliseconds since the epoch. */
const toSummedColumn = (name: string): string =>
  name === 'startedAt' ? `(extract(epoch FROM "startedAt") * 1000)::float8 AS "startedAt"` : `"${name}"`

/** Adds tokens from rows of type `TokensRow` to calls, and returns these calls. Skips calls that already have tokens. */
export const ADD_TOKENS = {
  name: 'add-tokens',
  text: `
    WITH item AS (
      SELECT fields->>0 AS "id", (fields->>1)::int AS "before", (fields->>2)::int AS "sent", (fields->>3)::int AS "otherwise", (fields->>4)::boolean AS "estimated", (fields->>5)::int AS "size"
      FROM jsonb_array_elements($1::jsonb) AS element(fields)
    ), counted AS (
      UPDATE "Execution" SET "tokensBefore" = item."before", "tokensSent" = item."sent", "tokensEstimated" = item."estimated", "updatedAt" = ${NOW}
      FROM item WHERE "Execution"."id" = item."id" AND "Execution"."tokensSent" IS NULL
      RETURNING "Execution"."id", ${SUMMED_COLUMNS.map(name => `"${name}"`).join(', ')}, item."sent", item."otherwise", item."estimated", item."size"
    ), besides AS (${addToDays(
      {
        counted: 'count(*)',
        estimated: 'count(*) FILTER (WHERE "estimated")',
        tokensSent: 'sum("sent")',
        tokensBefore: 'sum("otherwise")',
        succeeded: `count(*) FILTER (WHERE ${IS_SUCCESS})`,
        [LARGEST]: `coalesce(max("size") FILTER (WHERE ${IS_SUCCESS}), 0)`,
      },
      'counted',
    )})
    SELECT "id", ${SUMMED_COLUMNS.map(toSummedColumn).join(', ')} FROM counted`,
}
