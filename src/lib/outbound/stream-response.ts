import type { DispatchRequest, OutboundDispatcher, ResponseHandler, ResponseHead } from './dispatch.ts'
import { abortProblem, type Problem, type ToError, timeoutProblem } from './faults.ts'
import type { OutboundRequest } from './outbound-request.ts'
import type { PreparedRequest } from './prepared-request.ts'

const ONCE = { once: true }

/** Calls `stop` after the timeout or when the signal aborts, until it is disarmed. */
export class Deadline {
  readonly #timer: NodeJS.Timeout
  readonly #signal: OutboundRequest['signal']
  readonly #onAbort: () => void

  constructor(timeoutMs: number, signal: OutboundRequest['signal'], stop: (why: 'timeout' | 'aborted') => void) {
    this.#timer = setTimeout(stop, Math.max(1, timeoutMs), 'timeout')
    this.#timer.unref()
    this.#signal = signal
    // A constant first, because V8 allocates a function literal that is assigned to a property in the old generation
    // (ADR 13).
    const onAbort = (): void => stop('aborted')
    this.#onAbort = onAbort
    signal?.addEventListener('abort', this.#onAbort, ONCE)
  }

  /** Cancels the timeout. The signal still stops the request. */
  endTimeout(): void {
    clearTimeout(this.#timer)
  }

  disarm(): void {
    this.endTimeout()
    this.#signal?.removeEventListener('abort', this.#onAbort)
  }
}

export type StreamOptions = {
  dispatch: OutboundDispatcher['dispatch']
  organizationId: OutboundRequest['organizationId']
  /** Whether to send the request again if a reused connection turns out to be closed. */
  mayRetry: boolean
  /** Maximum idle time within the body; 0 for no limit. */
  bodyIdleMs: number
  /** Time limit for the complete response, unless the receiver ends the timeout earlier. */
  timeoutMs: number
  signal: OutboundRequest['signal']
  trace?: OutboundRequest['trace']
  toError: ToError
  /** Returns the error to report when the signal aborts. Defaults to an OutboundError. */
  abortError?: (() => unknown) | undefined
}

/** Receives a response as it arrives. The first problem that a function returns ends the request with an error. */
export type ResponseReceiver = {
  start: (head: ResponseHead) => Problem | undefined
  add: (chunk: Buffer) => Problem | undefined
  end: () => void
  /** Called when the response is missing or incomplete. */
  fail: (error: unknown) => void
}

/** A request whose response is passed on as it arrives. It is a class because of its memory, as in `dispatch.ts`. */
class StreamedResponse implements ResponseHandler {
  readonly #options: StreamOptions
  readonly #receiver: ResponseReceiver
  readonly #call: ReturnType<OutboundDispatcher['dispatch']>
  readonly #deadline: Deadline

  constructor(request: DispatchRequest, options: StreamOptions, receiver: ResponseReceiver) {
    this.#options = options
    this.#receiver = receiver
    this.#call = options.dispatch(request, this)
    this.#deadline = new Deadline(options.timeoutMs, options.signal, why => {
      if (why === 'timeout') this.cutFor(timeoutProblem(request.host, this.#call.phase))
      else this.#cutForAbort()
    })
  }

  /** Who created the organization of the request, if that is known. Set before the response begins. */
  get creatorId(): string | undefined {
    return this.#call.creatorId
  }

  start(): void {
    if (this.#options.signal?.aborted) this.#cutForAbort()
    else this.#call.start()
  }

  /** Ends the request with an error. */
  cut(error: unknown): void {
    this.#fail(error)
    this.#call.abort()
  }

  /** Ends the request if there is a problem. */
  cutFor(problem: Problem | undefined): void {
    if (problem !== undefined) this.cut(this.#options.toError(problem))
  }

  #cutForAbort(): void {
    const { abortError, toError } = this.#options
    this.cut(abortError === undefined ? toError(abortProblem) : abortError())
  }

  #fail(error: unknown): void {
    this.#deadline.disarm()
    this.#receiver.fail(error)
  }

  /** Cancels the time limit for the complete response. */
  endTimeout(): void {
    this.#deadline.endTimeout()
  }

  pause(): void {
    this.#call.pause()
  }

  resume(): void {
    this.#call.resume()
  }

  // Called by the dispatcher from here on.

  onHead(head: ResponseHead): void {
    this.cutFor(this.#receiver.start(head))
  }

  onData(chunk: Buffer): void {
    this.cutFor(this.#receiver.add(chunk))
  }

  onEnd(): void {
    this.#deadline.disarm()
    this.#receiver.end()
  }

  onFault(problem: Problem): void {
    this.#fail(this.#options.toError(problem))
  }
}

/** Sends one request and streams its response to the receiver. */
export const streamResponse = (
  { target: { host, origin, path }, method, headers, body }: PreparedRequest,
  options: StreamOptions,
  receiver: ResponseReceiver,
): StreamedResponse => {
  const { organizationId, mayRetry, bodyIdleMs, trace } = options
  const request: DispatchRequest = {
    organizationId,
    origin,
    host,
    method,
    path,
    headers,
    body: body ?? null,
    mayRetry,
    bodyIdleMs,
    upgrade: null,
    trace,
  }
  const response = new StreamedResponse(request, options, receiver)
  response.start()
  return response
}
