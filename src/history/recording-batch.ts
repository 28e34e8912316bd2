import type { ExecutionTokens } from './execution-record.ts'
import type { PackedRows } from './packed-rows.ts'

/** A gap on its way to the worker; times in milliseconds since 1970. */
export type GapRow = [id: string, serverId: string, missing: number, from: number, to: number, reason: string]

/** What an answer cost, on its way to the worker: of a call whose row comes with this batch, or came before. */
export type TokensRow = [executionId: string, before: number | null, sent: number, otherwise: number]

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

export const toTokensRow = ({ executionId, before, sent, otherwise }: ExecutionTokens): TokensRow => [
  executionId,
  before ?? null,
  sent,
  otherwise,
]
