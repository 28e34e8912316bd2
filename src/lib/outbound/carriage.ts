import type { Dispatcher } from 'undici'
import type { ResponseHeaders } from './answer.ts'
import type { Connection, ConnectionPool, Waiter } from './connection-pool.ts'
import { isUnwritable, type Phase } from './faults.ts'

/** Interim answers (1xx), which end here; above it the other end is playing with us. */
const MAX_INTERIM_ANSWERS = 32

/** Why a request does not go out any more, or is broken off: nobody waits for its answer. */
const CALL_IS_OVER = new Error('the call is over')

/** One request, and who hears of its answer; nothing is told before `start`. */
export type Load = {
  method: string
  path: string
  headers: NonNullable<Dispatcher.DispatchOptions['headers']>
  body: NonNullable<Dispatcher.DispatchOptions['body']> | null
  /** Whether nobody waits any more: then it is not sent. */
  isOver: () => boolean
  onHead: (status: number, headers: ResponseHeaders, statusText: string) => void
  onData: (chunk: Buffer) => void
  onEnd: () => void
  /** More interim answers came than anybody means. */
  onFlood: () => void
  /** `wasKept`: the connection is one over which answers came before. */
  onError: (error: unknown, wasKept: boolean) => void
}

/**
 * Carries one request and its answer, as a stream, over a connection of the pool, which gets the connection back, or word
 * that it is of no further use. Times are the caller's to keep: a stream may be silent for as long as it likes.
 */
export const createCarriage = (pool: ConnectionPool, load: Load) => {
  let phase: Phase = 'queued'
  let connection: Connection | undefined
  let controller: Dispatcher.DispatchController | undefined
  let interimAnswers = 0

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: started => {
      // Thrown here, the connection stays as good as it was.
      if (load.isOver()) throw CALL_IS_OVER
      controller = started
      phase = 'sent'
    },
    onResponseStart: (_, status, headers: ResponseHeaders, statusText = '') => {
      if (status >= 200) {
        phase = 'receiving'
        load.onHead(status, headers, statusText)
      } else if (++interimAnswers > MAX_INTERIM_ANSWERS) load.onFlood()
    },
    onResponseData: (_, chunk) => load.onData(chunk),
    onResponseEnd: () => {
      controller = undefined
      if (connection !== undefined) {
        connection.answers++
        pool.release(connection)
      }
      load.onEnd()
    },
    onResponseError: (_, error) => {
      controller = undefined
      if (connection === undefined) return
      const wasKept = connection.answers > 0
      if (phase === 'connecting' && (error === CALL_IS_OVER || isUnwritable(error))) pool.release(connection)
      else pool.discard(connection)
      load.onError(error, wasKept)
    },
  }

  const waiter: Waiter = {
    start: given => {
      connection = given
      phase = 'connecting'
      const { method, path, headers, body } = load
      connection.client.dispatch({ path, method, headers, body, blocking: false, bodyTimeout: 0 }, handler)
    },
    fail: error => load.onError(error, false),
  }

  return {
    start: (): void => pool.acquire(waiter),
    phase: (): Phase => phase,
    pause: (): void => controller?.pause(),
    resume: (): void => controller?.resume(),
    /** Ends the request, too: the other end sees its connection close. */
    breakOff: (): void => {
      pool.forget(waiter)
      controller?.abort(CALL_IS_OVER)
    },
  }
}
