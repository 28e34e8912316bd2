import type { ExecutionRecord, ExecutionTokens } from './execution-record.ts'
import type { PackedRows } from './packed-rows.ts'

/** A record on its way into the database: a flat row in the order of `EXECUTION_COLUMNS`. */
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

/** What an answer cost, on its way to the worker: of a call whose row comes with this batch, or came before. */
export type TokensRow = [executionId: string, before: number | null, sent: number, otherwise: number]

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

/** Everything in it may be sent again: a row that is there already is left alone, and counted once. */
export type RecordingBatch = { executions: PackedRows; gaps: GapRow[]; tokens: TokensRow[] }

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

export type WorkerRequest = { kind: 'write'; batch: RecordingBatch } | { kind: 'close' }

/** Writes batches into one database over a connection of its own. `write` never throws. */
export type BatchWriter = { write: (batch: RecordingBatch) => Promise<WriteOutcome>; close: () => Promise<void> }

/** No column of PostgreSQL holds NUL or half a surrogate pair: both become U+FFFD, on SQLite too. */
const toStorable = (text: string): string =>
  text.isWellFormed() && !text.includes('\0') ? text : text.toWellFormed().replaceAll('\0', '\ufffd')

export const toExecutionRow = (record: ExecutionRecord): ExecutionRow => [
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
]

export const toTokensRow = ({ executionId, before, sent, otherwise }: ExecutionTokens): TokensRow => [
  executionId,
  before ?? null,
  sent,
  otherwise,
]
