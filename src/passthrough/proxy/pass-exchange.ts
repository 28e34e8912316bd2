import type { Readable, Writable } from 'node:stream'
import type { ResponseHeaders } from '../../lib/outbound/answer.ts'
import { createCarriage } from '../../lib/outbound/carriage.ts'
import type { ConnectionPool } from '../../lib/outbound/connection-pool.ts'
import { isLostConnection, isUnwritable, type Problem, problemOf, toOutboundError } from '../../lib/outbound/faults.ts'
import type { OutboundError } from '../../lib/outbound/http-client.ts'

export type ProxyFault = {
  error: OutboundError
  /** Nothing was sent, so another address may be tried. */
  isUnsent: boolean
  /** It used a kept-alive connection, which the server may have closed before it saw the request. */
  wasReused: boolean
}

export type OutgoingRequest = {
  /** Only scheme, host and port are used. */
  url: URL
  /** Path and query as sent. */
  path: string
  /** All headers to send, by lower-case name. Those of the incoming request are not used. */
  headers: Record<string, string | string[]>
  /** Timeout until the response begins. */
  headTimeoutMs: number
  /** Called at most once, and never after the response has begun. */
  onFault: (fault: ProxyFault) => void
}

/** The head of a response. Names are in lower case, values in Latin-1. */
export type PassedHead = { status: number; statusText: string; headers: ResponseHeaders }

export type ProxyRequest = OutgoingRequest & {
  method: string
  /** The length is that of the headers; without one the body is sent in chunks. */
  body: Buffer | Readable | undefined
  /** Receives the head and returns where the body is written, or undefined if it is not wanted. */
  onHead: (head: PassedHead) => Writable | undefined
  /** Reports received bytes of the body. */
  onBytes: (count: number) => void
  /** The response was cut off. */
  onBroken: (error: OutboundError) => void
}

/** Passes one request on, streaming in both directions. Returns a function that aborts it silently. */
export const passExchange = (pool: ConnectionPool, maxHeaderBytes: number, request: ProxyRequest): (() => void) => {
  const { url, method, path, headers, headTimeoutMs } = request
  const { host } = url
  const startedAt = performance.now()
  let to: Writable | undefined
  let isOver = false
  /** Remaining bytes of the body, if its length is known. */
  let missingBytes = Number.NaN

  const explain = (cause: unknown): Problem => {
    if (isUnwritable(cause))
      return {
        fault: 'protocol',
        text: `the method or a header of this request is not valid HTTP/1.1 for ${host}; change it`,
      }
    const standing = { host, phase: carriage.phase(), isTls: url.protocol === 'https:', maxHeaderBytes, bodyIdleMs: 0 }
    return { ...problemOf(cause, standing), cause }
  }
  const finish = (): boolean => {
    if (isOver) return false
    isOver = true
    clearTimeout(timer)
    return true
  }
  const fail = (problem: Problem, standing: Omit<ProxyFault, 'error'>): void => {
    if (!finish()) return
    const error = toOutboundError(problem, performance.now() - startedAt)
    if (carriage.phase() === 'receiving') request.onBroken(error)
    else request.onFault({ error, ...standing, isUnsent: standing.isUnsent && problem.fault !== 'aborted' })
  }
  const cut = (): void => {
    finish()
    carriage.breakOff()
  }
  const cutFor = (problem: Problem): void => {
    fail(problem, { isUnsent: false, wasReused: false })
    cut()
  }
  const timer = setTimeout(
    () =>
      cutFor({
        fault: 'timeout',
        text: `${host} did not start to respond within ${headTimeoutMs} ms; raise its timeoutMs`,
      }),
    headTimeoutMs,
  )

  const carriage = createCarriage(pool, {
    method,
    path,
    headers,
    body: request.body ?? null,
    isOver: () => isOver,
    onHead: (status, answered, statusText) => {
      clearTimeout(timer)
      missingBytes = Number(answered['content-length'])
      to = request.onHead({ status, statusText, headers: answered })
      if (to === undefined) cut()
    },
    onData: chunk => {
      missingBytes -= chunk.length
      if (to === undefined || to.destroyed) return
      request.onBytes(chunk.length)
      if (to.write(chunk)) return
      carriage.pause()
      to.once('drain', carriage.resume)
    },
    onEnd: () => {
      if (finish()) to?.end()
    },
    onFlood: () => cutFor({ fault: 'protocol', text: `${host} sent too many interim responses` }),
    onError: (error, wasKept) => {
      // While the reader is paused, the end of the message is not processed. If the connection closes then, nothing is
      // missing.
      if (missingBytes === 0 && finish()) to?.end()
      else {
        const isUnsent = ['queued', 'connecting'].includes(carriage.phase()) && !isUnwritable(error)
        fail(explain(error), { isUnsent, wasReused: wasKept && isLostConnection(error) })
      }
    },
  })
  carriage.start()
  return cut
}
