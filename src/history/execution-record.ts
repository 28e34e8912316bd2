/** A request as it was sent, with every secret masked. */
export type MaskedRequest = {
  method: string
  url: string
  headers: readonly (readonly [name: string, value: string])[]
  body?: string | undefined
  /** How old the answer was that was given instead of sending it, in milliseconds. */
  answerAgeMs?: number | undefined
}

/** One tools/call with its outcome, as history keeps it. */
export type ExecutionRecord = {
  id: string
  serverId: string
  instanceId: string | undefined
  /** The MCP tool name at the time of the call. */
  tool: string
  /** The user behind the token; none on a public server. */
  userId: string | undefined
  /** `name/version` as the client calls itself, shortened to 200 characters. */
  client: string | undefined
  startedAt: Date
  durationMs: number
  outcome: 'ok' | 'error'
  /** HTTP status of the API's answer, where one came. */
  status: number | undefined
  /** Body sizes: what was sent to the API, and what it answered after decompression. */
  requestBytes: number
  responseBytes: number
  /** What the caller was told, masked, shortened to 2,000 characters. */
  error: string | undefined
  request: MaskedRequest | undefined
}

/** What the answer of a recorded call cost a model, in tokens of the encoding that all counts are made in. */
export type ExecutionTokens = {
  executionId: string
  /** Of the whole answer; undefined where that was not counted. */
  before: number | undefined
  /** Of what was sent of it. */
  sent: number
  /** Of what would have been sent had nothing been left out, for sums of what was saved: `sent` where nobody knows. */
  otherwise: number
}

/** Records that could not be kept: the queue or the disk was full. */
export type ExecutionGap = { serverId: string; missing: number; from: Date; to: Date; reason: string }

export type Recorder = {
  /** Starts the worker ahead of the first record, which else starts it: for a process that is about to listen. */
  start: () => void
  /** Never blocks, never throws; over the queue's bound the record is counted as missing. */
  record: (execution: ExecutionRecord) => void
  /** Adds to a call that was recorded before what its answer cost. Never blocks, never throws; of many some are let go. */
  recordTokens: (tokens: ExecutionTokens) => void
  /**
   * Resolves once everything recorded before the call is stored, or counted as missing, and the gaps known by then
   * are stored too. Waits as long as the database takes nothing.
   */
  flush: () => Promise<void>
  /** Flushes, for a bounded time, and closes the connection. Records that come later count as missing. */
  close: () => Promise<void>
  /** Records waiting or under way, and those missing and stored since the start: for health and tests. */
  stats: () => { queued: number; missing: number; stored: number }
}

/** Longest error text kept in history. */
export const ERROR_CHARACTERS = 2_000

/** Milliseconds to the microsecond: what lies beyond is noise. */
export const toMicroseconds = (ms: number): number => Math.round(ms * 1_000) / 1_000
