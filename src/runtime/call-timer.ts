import { type CallAttempt, type CallTiming, roundToMicroseconds } from '../history/execution-record.ts'
import { type Attempt, RequestTrace } from '../lib/outbound/request-trace.ts'

/** Why an attempt got no response, in a few words without names or values. */
const FAILURES: Readonly<Record<NonNullable<Attempt['fault']>, string>> = {
  stale: 'the reused connection had been closed',
  session_ended: 'the session had ended',
  dns: 'the name does not resolve',
  refused: 'the connection was refused',
  reset: 'the connection was closed',
  connect_timeout: 'no connection in time',
  timeout: 'no response in time',
  busy: 'no connection or memory became free',
  failing: 'not sent, because the API keeps failing',
  too_large: 'the response is too large',
  blocked: 'not allowed',
  invalid_request: 'the request is not valid',
  too_many_redirects: 'too many redirects',
  tls: 'no secure connection',
  protocol: 'the response is not HTTP',
  encoding: 'the response cannot be decompressed',
  aborted: 'cancelled',
  unreachable: 'the API cannot be reached',
}

const toCallAttempt = ({ startedMs, durationMs, status, fault }: Attempt, sentAfterMs: number): CallAttempt => ({
  startMs: roundToMicroseconds(sentAfterMs + startedMs),
  durationMs: roundToMicroseconds(durationMs),
  ...(status !== undefined && { status }),
  ...(fault !== undefined && { failure: FAILURES[fault] }),
})

/** Measures a call with a monotonic clock. It is a class, because every call has one. */
export class CallTimer {
  readonly startedAt = new Date()
  /** Measures the requests of the call. */
  readonly trace = new RequestTrace()
  readonly #startedMs = performance.now()
  #resolvedMs = 0
  #receivedMs = 0
  #endedMs = 0

  /** Notes that the request is complete. */
  noteResolved(): void {
    this.#resolvedMs = performance.now()
  }

  /** Notes that the response has arrived, and is about to be shaped. */
  noteReceived(): void {
    this.#receivedMs = performance.now()
  }

  /** Measures a request that an MCP client sends in its own way. */
  async waitFor<Result>(send: () => Promise<Result>): Promise<Result> {
    const { trace } = this
    this.noteResolved()
    trace.startAttempt(this.#resolvedMs)
    try {
      return await send()
    } finally {
      this.noteReceived()
      const { status } = trace
      trace.noteLast(status === undefined ? {} : { status })
      trace.end(this.#receivedMs - this.#resolvedMs)
    }
  }

  /** Ends the call, and returns its duration in milliseconds. */
  end(): number {
    this.#endedMs = performance.now()
    return this.#endedMs - this.#startedMs
  }

  /** Returns the phases of a call that has ended. Those that did not take place are missing. */
  timing(): CallTiming {
    const { queueMs, dnsMs, connectMs, firstByteMs, bodyMs } = this.trace
    const timing: CallTiming = { resolveMs: roundToMicroseconds((this.#resolvedMs || this.#endedMs) - this.#startedMs) }
    // Less than a microsecond is no waiting.
    if (queueMs >= 0.001) timing.queueMs = roundToMicroseconds(queueMs)
    if (dnsMs > 0) timing.dnsMs = roundToMicroseconds(dnsMs)
    if (connectMs > 0) timing.connectMs = roundToMicroseconds(connectMs)
    if (firstByteMs > 0) timing.firstByteMs = roundToMicroseconds(firstByteMs)
    if (bodyMs > 0) timing.bodyMs = roundToMicroseconds(bodyMs)
    if (this.#receivedMs > 0) timing.shapeMs = roundToMicroseconds(this.#endedMs - this.#receivedMs)
    return timing
  }

  /** Returns the attempts of a call, if there was more than one. */
  attempts(): readonly CallAttempt[] | undefined {
    const { attempts } = this.trace
    return attempts?.map(attempt => toCallAttempt(attempt, this.#resolvedMs - this.#startedMs))
  }
}
