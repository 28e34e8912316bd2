import type { OutboundFault } from './outbound-fault.ts'

/** Progress of a request. A `queued` request waits for a connection to the origin. */
export type Phase = 'queued' | 'connecting' | 'sent' | 'receiving'

/** Maximum number of retries of a call for all reasons together. A call thus sends its request at most four times. */
export const MAX_RETRIES = 3

/** How an attempt ended: with a response of this status, or without one. */
export type AttemptOutcome = {
  status?: number
  /** `stale`: the API had already closed the reused connection. `session_ended`: an MCP server had ended the session. */
  fault?: OutboundFault | 'stale' | 'session_ended'
}

/** One of several attempts at a request. `startedMs` counts from the beginning of the first. */
export type Attempt = AttemptOutcome & { startedMs: number; durationMs: number }

/** The sum to which the time of each phase is added. */
const SUMS = { queued: 'queueMs', connecting: 'connectMs', sent: 'firstByteMs', receiving: 'bodyMs' } as const

/**
 * Measures one call's requests with a monotonic clock: where the time goes, added up over redirects and attempts, and
 * how often the request is sent. It is a class with plain numbers, because every call has one.
 */
export class RequestTrace {
  /** Waiting for a free connection, or for memory in the middle of a body. */
  queueMs = 0
  /** Resolving names for new connections. */
  dnsMs = 0
  /** Opening connections, including TLS. */
  connectMs = 0
  /** From a request until its response begins. */
  firstByteMs = 0
  /** Receiving and decompressing bodies. */
  bodyMs = 0
  /** Number of times that the request was sent again. */
  retries = 0
  /** Status of the last response, if it is known. */
  status: number | undefined
  /** Whether the call is over, so that nothing more is measured. */
  isOver = false
  /** All attempts, if there was more than one. */
  attempts: Attempt[] | undefined
  #startedAtMs = 0
  #attemptAtMs = 0

  add(phase: Phase, ms: number): void {
    this[SUMS[phase]] += ms
  }

  /** Counts a part of the time of connecting as the time of a name lookup, which may have begun earlier. */
  addLookup(ms: number): void {
    const part = Math.min(ms, this.connectMs)
    this.dnsMs += part
    this.connectMs -= part
  }

  /** Counts a part of the time of a body, which ends later, as waiting. */
  addWait(ms: number): void {
    this.queueMs += ms
    this.bodyMs -= ms
  }

  startAttempt(nowMs: number): void {
    if (this.#startedAtMs === 0) this.#startedAtMs = nowMs
    this.#attemptAtMs = nowMs
  }

  /** Notes an attempt that another follows. */
  noteRetried(outcome: AttemptOutcome): void {
    this.retries++
    this.attempts ??= []
    this.#note(this.attempts, outcome)
  }

  /** Notes an attempt that is repeated at once. */
  repeat(outcome: AttemptOutcome): void {
    this.noteRetried(outcome)
    this.startAttempt(performance.now())
  }

  /** Notes an attempt that is not repeated, if there were others before it. */
  noteLast(outcome: AttemptOutcome): void {
    if (this.attempts !== undefined) this.#note(this.attempts, outcome)
  }

  /**
   * Ends a call that waited this long for its result, in requests that do not simply follow each other. What was not
   * spent on connecting counts as the time until the response began.
   */
  end(waitedMs: number): void {
    this.isOver = true
    this.bodyMs = 0
    this.firstByteMs = Math.max(0, waitedMs - this.queueMs - this.dnsMs - this.connectMs)
  }

  #note(attempts: Attempt[], outcome: AttemptOutcome): void {
    const durationMs = performance.now() - this.#attemptAtMs
    attempts.push({ startedMs: this.#attemptAtMs - this.#startedAtMs, durationMs, ...outcome })
  }
}
