import type { Readable, Writable } from 'node:stream'
import type { ResponseHeaders } from './answer.ts'
import { createCarriage } from './carriage.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { isLostConnection, isUnwritable, type Problem, problemOf, toOutboundError } from './faults.ts'
import type { OutboundError } from './http-client.ts'

/** A request that got no answer. */
export type ProxyFault = {
  error: OutboundError
  /** Nothing of it has gone out: another address may be tried. */
  isUnsent: boolean
  /** It went over a connection kept from an earlier one, which the other end may have closed before it saw the request. */
  wasReused: boolean
}

/** A request on its way to another server. */
export type Passing = {
  /** Where it goes; of it only scheme, host and port count. */
  url: URL
  /** Path and query, as they go out. */
  path: string
  /** All that goes out: what came with the request is not looked at. Names in lower case. */
  headers: Record<string, string | string[]>
  /** From now until the answer begins. */
  headTimeoutMs: number
  /** Called at most once, and never after the answer has begun. */
  onFault: (fault: ProxyFault) => void
}

/** How an answer begins; names in lower case, values as Latin-1. */
export type PassedHead = { status: number; statusText: string; headers: ResponseHeaders }

export type RequestPassing = Passing & {
  method: string
  /** Its length is that of the headers, or it has none and goes on in chunks. */
  body: Buffer | Readable | undefined
  /** The answer has begun. Gives what its body is written to, and ended with; nothing where it is not wanted. */
  onHead: (head: PassedHead) => Writable | undefined
  /** So many bytes of the body have come. */
  onBytes: (count: number) => void
  /** The answer has broken off. */
  onBroken: (error: OutboundError) => void
}

/** One request and its answer, as streams in both directions. The returned function breaks it off, and then tells nothing. */
export const passExchange = (pool: ConnectionPool, maxHeaderBytes: number, wish: RequestPassing): (() => void) => {
  const { url, method, path, headers, headTimeoutMs } = wish
  const { host } = url
  const startedAt = performance.now()
  let to: Writable | undefined
  let isOver = false
  /** Of the body, where it has said how long it is. */
  let missingBytes = Number.NaN

  const explain = (cause: unknown): Problem => {
    if (isUnwritable(cause))
      return {
        fault: 'protocol',
        text: `the method or a header of this request is none that HTTP/1.1 takes to ${host}; send another`,
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
    if (carriage.phase() === 'receiving') wish.onBroken(error)
    else wish.onFault({ error, ...standing, isUnsent: standing.isUnsent && problem.fault !== 'aborted' })
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
        text: `${host} did not begin to answer within ${headTimeoutMs} ms; raise its timeoutMs`,
      }),
    headTimeoutMs,
  )

  const carriage = createCarriage(pool, {
    method,
    path,
    headers,
    body: wish.body ?? null,
    isOver: () => isOver,
    onHead: (status, answered, statusText) => {
      clearTimeout(timer)
      missingBytes = Number(answered['content-length'])
      to = wish.onHead({ status, statusText, headers: answered })
      if (to === undefined) cut()
    },
    onData: chunk => {
      missingBytes -= chunk.length
      if (to === undefined || to.destroyed) return
      wish.onBytes(chunk.length)
      if (to.write(chunk)) return
      carriage.pause()
      to.once('drain', carriage.resume)
    },
    onEnd: () => {
      if (finish()) to?.end()
    },
    onFlood: () => cutFor({ fault: 'protocol', text: `${host} sent one interim answer after the other` }),
    onError: (error, wasKept) => {
      // While its reader rests the end of a message is not looked at: a connection that is closed then broke nothing off.
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
