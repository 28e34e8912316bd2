import type { ExecutionRecord } from './execution-record.ts'

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
] as const

/** Positions in a row. */
export const POSITION = { id: 0, serverId: 1, startedAt: 6 } as const

/** Replaces NUL and lone surrogates, which PostgreSQL cannot store, with U+FFFD. Applies to both databases. */
const toStorable = (text: string): string =>
  text.isWellFormed() && !text.includes('\0') ? text : text.toWellFormed().replaceAll('\0', '\ufffd')

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
    record.request === undefined ? null : JSON.stringify(record.request),
    record.result,
    record.arguments === undefined ? null : JSON.stringify(record.arguments),
  ] as const
export type ExecutionRow = ReturnType<typeof toExecutionRow>
