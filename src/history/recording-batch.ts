import type { ExecutionRecord } from './execution-record.ts'

/** A record as a flat row in the order of `EXECUTION_COLUMNS`, bound to the statement as it is. */
export type ExecutionRow = [
  id: string,
  serverId: string,
  instanceId: string | null,
  tool: string,
  userId: string | null,
  client: string | null,
  /** Milliseconds since 1970. */
  startedAt: number,
  durationMs: number,
  outcome: 'ok' | 'error',
  status: number | null,
  requestBytes: number,
  responseBytes: number,
  error: string | null,
  /** JSON. */
  request: string | null,
]

/** A gap on its way to the worker; times in milliseconds since 1970. */
export type GapRow = [id: string, serverId: string, missing: number, from: number, to: number, reason: string]

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
] as const

export const GAP_COLUMNS = ['id', 'serverId', 'missing', 'from', 'to', 'reason'] as const

/**
 * What waits to be written: `executions` are `ExecutionRow`s, each as JSON. One text instead of a record of twenty
 * parts costs the collector nothing while it waits, and crosses the thread border for a fifth of what cloning rows does.
 * Everything in it may be sent again: a row that is there already is left alone.
 */
export type RecordingBatch = { executions: readonly string[]; gaps: GapRow[] }
/** The same as a writer gets it. */
export type RowBatch = { executions: ExecutionRow[]; gaps: GapRow[] }

/** Why records are missing, in words that the page of a server shows. */
export type MissingReason =
  | 'the queue was full'
  | 'the database was full'
  | 'the database was locked'
  | 'the database was unavailable'
  | 'the database refused the record'
  | 'the recorder stopped'

/** A row that the database will never take, such as one with a number out of range. */
export type RefusedRow = { serverId: string; startedAt: number; message: string }

/**
 * What became of a batch. Written: every row is stored, but for those of servers that are gone (dropped without a
 * word) and those refused. Failed: nothing is known to be stored; the whole batch may be sent again.
 */
export type WriteOutcome =
  | { kind: 'written'; dropped: number; refused: RefusedRow[] }
  | { kind: 'failed'; reason: MissingReason; message: string }

/** `executions`: a JSON array of `ExecutionRow`s. */
export type WorkerRequest = { kind: 'write'; executions: string; gaps: GapRow[] } | { kind: 'close' }

/** Writes batches into one database over a connection of its own. `write` never throws. */
export type BatchWriter = { write: (batch: RowBatch) => Promise<WriteOutcome>; close: () => Promise<void> }

/** No column of PostgreSQL holds NUL or half a surrogate pair: both become U+FFFD, on SQLite too. */
const toStorable = (text: string): string =>
  text.isWellFormed() && !text.includes('\0') ? text : text.toWellFormed().replaceAll('\0', '\ufffd')

const toExecutionRow = (record: ExecutionRecord): ExecutionRow => [
  record.id,
  record.serverId,
  record.instanceId ?? null,
  record.tool,
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
]

export const toRowText = (record: ExecutionRecord): string => JSON.stringify(toExecutionRow(record))

/** Numbers that JSON does not know have become null, which no column of numbers takes: such a row is refused. */
export const parseRows = (rowTexts: string): ExecutionRow[] => JSON.parse(rowTexts)

/** Rows on their way through a queue, as the JSON array of them. */
export const joinRows = (rowTexts: readonly string[]): string => `[${rowTexts.join()}]`
