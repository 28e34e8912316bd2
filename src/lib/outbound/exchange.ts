import type { Dispatcher } from 'undici'
import { createAnswer, type ResponseHeaders } from './answer.ts'
import type { Connection, Waiter } from './connection-pool.ts'
import type { ConnectionPools } from './connection-pools.ts'
import {
  abortProblem,
  isLostConnection,
  isUnwritable,
  type Phase,
  type Problem,
  problemOf,
  type ToError,
  timeoutProblem,
} from './faults.ts'
import type { Hop } from './hop.ts'
import type { OutboundRequest, OutboundResponse } from './http-client.ts'
import { armStops } from './stops.ts'

/** Methods that may be sent a second time without harm (RFC 9110 §9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

/** Interim answers (1xx) before the real one; above it the other end is playing with us. */
const MAX_INTERIM_ANSWERS = 32

/** Why a request that has not gone out yet will not: its call is over. */
const CALL_IS_OVER = new Error('the call is over')

export type ExchangeOptions = {
  pools: ConnectionPools
  maxHeaderBytes: number
  bodyIdleMs: number
  /** What is left of the call's time. */
  timeoutMs: number
  maxResponseBytes: number
  signal: OutboundRequest['signal']
  toError: ToError
}

/**
 * One request and its answer, over a kept connection if there is one.
 *
 * Sent a second time, over a fresh connection, when a kept one turns out closed before any byte of the answer: once,
 * and only when the method is idempotent or the first request was never written.
 */
export const exchange = (hop: Hop, options: ExchangeOptions): Promise<OutboundResponse> =>
  new Promise((resolve, reject) => {
    const { target, method } = hop
    const answer = createAnswer(method, target, options.maxResponseBytes)
    // A call that ends sooner by itself needs no watch over its body: each is a timer that outlives the answer.
    const bodyTimeout = options.timeoutMs > options.bodyIdleMs ? options.bodyIdleMs : 0
    let phase: Phase = 'queued'
    const pool = options.pools.get(target.origin)
    let connection: Connection | undefined
    let controller: Dispatcher.DispatchController | undefined
    let hasBegun = false
    let isRetry = false
    let isSettled = false
    let interimAnswers = 0

    const settle = (): boolean => {
      if (isSettled) return false
      isSettled = true
      disarm()
      return true
    }
    const succeed = (response: OutboundResponse): void => {
      if (settle()) resolve(response)
    }
    const fail = (problem: Problem): void => {
      if (settle()) reject(options.toError(problem))
    }
    /** Ends the call, and with it the request: the other end sees its connection close. */
    const cut = (problem: Problem): void => {
      fail(problem)
      pool.forget(waiter)
      controller?.abort(CALL_IS_OVER)
    }
    const problem = (error: unknown): Problem => ({
      ...problemOf(error, { ...options, host: target.host, phase, isTls: target.origin.startsWith('https:') }),
      cause: error,
    })

    const mayRetry = (error: Error): boolean =>
      !isRetry &&
      !hasBegun &&
      connection !== undefined &&
      connection.answers > 0 &&
      isLostConnection(error) &&
      (phase === 'connecting' || IDEMPOTENT.has(method))

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: started => {
        // Thrown here, the connection stays as good as it was.
        if (isSettled) throw CALL_IS_OVER
        controller = started
        phase = 'sent'
      },
      onResponseStarted: () => {
        hasBegun = true
      },
      onResponseStart: (_, status, headers: ResponseHeaders, statusText = '') => {
        if (status >= 200) {
          phase = 'receiving'
          const refusal = answer.start(status, statusText, headers)
          if (refusal !== undefined) cut(refusal)
        } else if (++interimAnswers > MAX_INTERIM_ANSWERS) {
          cut({ fault: 'protocol', text: `${target.host} sent one interim answer after the other` })
        }
      },
      onResponseData: (_, chunk) => {
        const refusal = answer.add(chunk)
        if (refusal !== undefined) cut(refusal)
      },
      onResponseEnd: () => {
        controller = undefined
        if (connection !== undefined) {
          connection.answers++
          pool.release(connection)
        }
        if (!answer.isEncoded()) succeed(answer.whole())
        else void answer.decoded().then(decoded => ('fault' in decoded ? fail(decoded) : succeed(decoded)))
      },
      onResponseError: (_, error) => {
        controller = undefined
        if (connection === undefined) return
        if (!isSettled && mayRetry(error)) {
          isRetry = true
          // Its socket is gone: dispatched to again, it opens another.
          queueMicrotask(dispatch)
          return
        }
        if (phase === 'connecting' && (error === CALL_IS_OVER || isUnwritable(error))) pool.release(connection)
        else pool.discard(connection)
        fail(problem(error))
      },
    }

    const dispatch = (): void => {
      phase = 'connecting'
      const { path } = target
      const { headers, body = null } = hop
      connection?.client.dispatch({ path, method, headers, body, blocking: false, bodyTimeout }, handler)
    }

    const waiter: Waiter = {
      start: given => {
        connection = given
        dispatch()
      },
      fail: error => fail(problem(error)),
    }

    const disarm = armStops(options.timeoutMs, options.signal, why =>
      cut(why === 'timeout' ? timeoutProblem(target.host, phase) : abortProblem),
    )
    pool.acquire(waiter)
  })
