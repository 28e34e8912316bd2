import type { OutboundDispatcher, ResponseHead } from './dispatch.ts'
import { type Problem, type ToError, timeoutProblem } from './faults.ts'
import type { OutboundRequest } from './outbound-request.ts'
import type { PreparedRequest } from './prepared-request.ts'

const ONCE = { once: true }

/**
 * Calls `stop` after the timeout or when the signal aborts. `endTimeout` cancels only the timeout, `disarm` cancels
 * both.
 */
export const armStop = (
  timeoutMs: number,
  signal: OutboundRequest['signal'],
  stop: (why: 'timeout' | 'aborted') => void,
) => {
  const timer = setTimeout(stop, Math.max(1, timeoutMs), 'timeout')
  timer.unref()
  const onAbort = () => stop('aborted')
  signal?.addEventListener('abort', onAbort, ONCE)
  const endTimeout = () => clearTimeout(timer)
  return {
    endTimeout,
    disarm: (): void => {
      endTimeout()
      signal?.removeEventListener('abort', onAbort)
    },
  }
}

export type StreamOptions = {
  dispatch: OutboundDispatcher['dispatch']
  /** Whether to send the request again if a reused connection turns out to be closed. */
  mayRetry: boolean
  /** Maximum idle time within the body; 0 for no limit. */
  bodyIdleMs: number
  /** Time limit for the complete response, unless the receiver ends the timeout earlier. */
  timeoutMs: number
  signal: OutboundRequest['signal']
  toError: ToError
  /** Returns the error to report when the signal aborts. */
  abortError: () => unknown
}

/** Receives a response as it arrives. The first problem that a function returns ends the request with an error. */
export type ResponseReceiver = {
  start: (head: ResponseHead) => Problem | undefined
  add: (chunk: Buffer) => Problem | undefined
  end: () => void
  /** Called when the response is missing or incomplete. */
  fail: (error: unknown) => void
}

/** Sends one request and streams its response to the receiver. */
export const streamResponse = (
  { target: { host, origin, path }, method, headers, body }: PreparedRequest,
  { dispatch, mayRetry, bodyIdleMs, timeoutMs, signal, toError, abortError }: StreamOptions,
  receiver: ResponseReceiver,
) => {
  const fail = (error: unknown): void => {
    stop.disarm()
    receiver.fail(error)
  }
  const cut = (error: unknown): void => {
    fail(error)
    call.abort()
  }
  const cutFor = (problem: Problem | undefined): void => {
    if (problem !== undefined) cut(toError(problem))
  }
  const request = { origin, host, method, path, headers, body: body ?? null, mayRetry, bodyIdleMs, upgrade: null }
  const call = dispatch(request, {
    onHead: head => cutFor(receiver.start(head)),
    onData: chunk => cutFor(receiver.add(chunk)),
    onEnd: () => {
      stop.disarm()
      receiver.end()
    },
    onFault: problem => fail(toError(problem)),
  })
  const stop = armStop(timeoutMs, signal, why =>
    why === 'timeout' ? cutFor(timeoutProblem(host, call.phase())) : cut(abortError()),
  )
  if (signal?.aborted) cut(abortError())
  else call.start()
  return { cut, cutFor, endTimeout: stop.endTimeout, pause: call.pause, resume: call.resume }
}
