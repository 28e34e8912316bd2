import type { ExecutionRecord } from './execution-record.ts'

/** The columns that a row has a value for. The writer adds the server's organization. */
export const EXECUTION_COLUMNS = [
  'id',
  'serverId',
  'instanceId',
  'tool',
  'userId',
  'client',
  'startedAt',
  'durationMs',
  'outcome',
  'status',
  'requestBytes',
  'responseBytes',
  'error',
  'request',
  'result',
  'arguments',
  'requestId',
  'tokenId',
  'timing',
  'attempts',
] as const

/** Positions in a row. */
export const POSITION = { id: 0, serverId: 1, startedAt: 6 } as const

/** Replaces NUL and lone surrogates, which PostgreSQL cannot store, with U+FFFD. Applies to both databases. */
const toStorable = (text: string): string =>
  text.isWellFormed() && !text.includes('\0') ? text : text.toWellFormed().replaceAll('\0', '\ufffd')

/** Returns JSON for a value that is only written and read as a whole. JSON escapes what `toStorable` replaces. */
const toJson = (value: object | undefined): string | null => (value === undefined ? null : JSON.stringify(value))

/** Returns a record as a flat row in the order of `EXECUTION_COLUMNS`. */
export const toExecutionRow = (record: ExecutionRecord) =>
  [
    record.id,
    record.serverId,
    record.instanceId ?? null,
    toStorable(record.tool),
    record.userId ?? null,
    record.client === undefined ? null : toStorable(record.client),
    record.startedAt.getTime(),
    record.durationMs,
    record.outcome,
    record.status ?? null,
    record.requestBytes,
    record.responseBytes,
    record.error === undefined ? null : toStorable(record.error),
    toJson(record.request),
    record.result,
    toJson(record.arguments),
    record.requestId ?? null,
    record.tokenId ?? null,
    toJson(record.timing),
    toJson(record.attempts),
  ] as const
export type ExecutionRow = ReturnType<typeof toExecutionRow>
