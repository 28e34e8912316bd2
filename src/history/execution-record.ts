import type { JsonObject } from '../lib/kernel/json.ts'
import type { CallResult } from './call-result.ts'
import type { HistoryTask, TaskResult } from './upkeep/history-tasks.ts'

/** Marks masked requests, so that the compiler rejects unmasked ones. As a symbol, the mark is not stored. */
export const MASKED = Symbol('masked')

/** A request as sent, with all secrets masked. */
export type MaskedRequest = {
  readonly [MASKED]: true
  method: string
  url: string
  headers: readonly (readonly [name: string, value: string])[]
  body?: string | undefined
  /** Age of the cached result in milliseconds, if one was returned instead of sending the request. */
  answerAgeMs?: number | undefined
  /** How the response differs from the tool's output schema, if it does. */
  schemaMismatch?: string | undefined
}

/** The beginning of a body. `isCut` if the body is longer. */
export type CallBody = { text: string; isCut: boolean }

/** The bodies of a call's request and response, with all secrets masked. A body that is empty or no text is missing. */
export type CallBodies = { readonly [MASKED]: true; request?: CallBody | undefined; response?: CallBody | undefined }

/** The arguments of a call. `values` has only those that are recorded; the lists of other names are limited. */
export type RecordedArguments = {
  values: JsonObject
  /** Names of arguments that were too long. */
  cut: readonly string[]
  /** Names of arguments that are or contain a secret. */
  masked: readonly string[]
}

/**
 * Durations of the phases of a call, in milliseconds. A phase that did not take place, or was not measured, is missing. The
 * phases of a call that was sent several times are the sums of all attempts.
 *
 * - `resolveMs`: resolving the arguments and rendering the request
 * - `queueMs`: waiting for a free connection or for memory
 * - `dnsMs`: looking up the host
 * - `connectMs`: TCP and TLS
 * - `firstByteMs`: from the request to the first byte of the response
 * - `bodyMs`: from there to the end of the response
 * - `shapeMs`: shaping and masking the result
 */
export const TIMING_PHASES = ['resolveMs', 'queueMs', 'dnsMs', 'connectMs', 'firstByteMs', 'bodyMs', 'shapeMs'] as const
export type CallTiming = Partial<Record<(typeof TIMING_PHASES)[number], number>>

/** A request that was sent for a call. It has a `status` if there was a response, otherwise a `failure`. */
export type CallAttempt = {
  /** Milliseconds from the start of the call to the start of the attempt. */
  startMs: number
  durationMs: number
  status?: number | undefined
  /** Why there was no response, in a few words, masked. */
  failure?: string | undefined
}

/** A tools/call and its outcome, as recorded in the history. */
export type ExecutionRecord = {
  id: string
  serverId: string
  instanceId: string | undefined
  /** MCP tool name at the time of the call. */
  tool: string
  /** The user that the token belongs to. Undefined for anonymous callers. */
  userId: string | undefined
  /** `name/version` of the client, truncated to 200 characters. */
  client: string | undefined
  /** The personal access token, or the grant of the application. Undefined for calls from pages. */
  tokenId?: string | undefined
  /** The id of the HTTP request, as in the header x-request-id. Undefined for calls from pages. */
  requestId?: string | undefined
  startedAt: Date
  durationMs: number
  outcome: 'ok' | 'error'
  result: CallResult
  status: number | undefined
  /** Size of the request body as sent to the API, and of the response body after decompression. */
  requestBytes: number
  responseBytes: number
  /** The error sent to the caller, masked and truncated to 2,000 characters. */
  error: string | undefined
  request: MaskedRequest | undefined
  /** Undefined for a passthrough request, and for calls recorded before Patchbay recorded arguments. */
  arguments?: RecordedArguments | undefined
  /** Undefined if nothing was measured. */
  timing?: CallTiming | undefined
  /** All attempts, if there was more than one. */
  attempts?: readonly CallAttempt[] | undefined
  /** Only for servers that store them. `request` then has no body. */
  bodies?: CallBodies | undefined
}

export type ExecutionTokens = {
  executionId: string
  /** Tokens of the whole result; undefined if not counted. */
  before: number | undefined
  /** Tokens of the part that was sent. */
  sent: number
  /** Tokens that would have been sent without truncation, used to compute the savings. Equals `sent` if unknown. */
  otherwise: number
  /** Tokens of the result before it was cut to its budget. At least those, if it was also shaped. */
  size: number
  /** Whether any of these counts is an estimate. */
  isEstimated: boolean
}

/** Records that are missing from the history, and why. */
export type ExecutionGap = { serverId: string; missing: number; from: Date; to: Date; reason: string }

export type Recorder = {
  /** Starts the worker before the first record, and resolves once it can write. For a process that is about to listen. */
  start: () => Promise<void>
  /** Records a call. Never blocks or throws. If the queue is full, the record counts as missing. */
  record: (execution: ExecutionRecord) => void
  /**
   * Adds the tokens of a result to a recorded call: before its row is written if they arrive in
   * time, otherwise afterwards. Never blocks or throws. May drop counts under load.
   */
  recordTokens: (tokens: ExecutionTokens) => void
  /**
   * Sets a callback that counts the tokens of calls before each batch is written. The callback takes a bounded time.
   */
  countBeforeWrite: (count: () => Promise<void>) => void
  /** Tells the recorder that the tokens of a recorded call must still be counted. */
  noteUncounted: () => void
  /**
   * Resolves once all earlier records are stored or counted as missing, and the known gaps are stored. Waits while
   * the database is unavailable.
   */
  flush: () => Promise<void>
  /** Does a batch of a task on the history, between two batches of records. Throws if it fails. */
  run: (task: HistoryTask) => Promise<TaskResult>
  /** Flushes for a limited time and closes the connection. Later records count as missing. */
  close: () => Promise<void>
  /** Numbers of queued records, and of missing and stored ones since startup, for health checks and tests. */
  stats: () => { queued: number; missing: number; stored: number }
}

export const ERROR_CHARACTERS = 2_000
/** Maximum characters of a request body. Its full size is also recorded. */
export const BODY_CHARACTERS = 16 * 1_024
/** Maximum characters of each body, for servers that store bodies. */
export const STORED_BODY_CHARACTERS = 64 * 1_024

export const roundToMicroseconds = (ms: number): number => Math.round(ms * 1_000) / 1_000
