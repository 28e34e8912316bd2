import type { ResponseHeaders } from './answer.ts'
import { createBodyStream } from './body-stream.ts'
import { createCarriage } from './carriage.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { parseContentEncoding } from './content-encoding.ts'
import { type Problem, problemOf, type ToError, timeoutProblem, tooLargeProblem } from './faults.ts'
import type { Hop } from './hop.ts'

/** An answer whose body is still coming in. */
export type OpenAnswer = {
  status: number
  statusText: string
  headers: ResponseHeaders
  body: ReadableStream<Uint8Array>
}

export type OpenExchangeOptions = {
  pools: ConnectionPools
  maxHeaderBytes: number
  /** Until the answer begins. */
  headersTimeoutMs: number
  /** Silence in a body that has an end. */
  bodyIdleMs: number
  /** Silence in a stream of server-sent events. */
  streamIdleMs: number
  /** Of a body that has an end, and of a single event of a stream. */
  maxResponseBytes: number
  signal: AbortSignal | undefined
  toError: ToError
}

/** Told to nobody: who has left asked for it. */
const HAS_LEFT = new Error('nobody reads the answer any more')
const MAX_STATUS = 599

const isEventStream = (headers: ResponseHeaders): boolean =>
  String(headers['content-type'] ?? '')
    .trimStart()
    .toLowerCase()
    .startsWith('text/event-stream')

/** What an answer cannot be taken for, by its beginning. */
const refusalOf = (host: string, status: number, headers: ResponseHeaders, maxBytes: number): Problem | undefined => {
  if (status > MAX_STATUS)
    return { fault: 'protocol', text: `${host} answered with the status ${status}, which HTTP lacks` }
  const encoding = parseContentEncoding(headers['content-encoding'])
  if (!encoding.ok || encoding.value !== undefined) {
    return { fault: 'encoding', text: `${host} compressed its answer unasked; have it answer as it is` }
  }
  return Number(headers['content-length']) > maxBytes ? tooLargeProblem(host, maxBytes) : undefined
}

/** One request, over a kept connection if there is one, and its answer as soon as that begins. Never sent twice. */
export const openExchange = (hop: Hop, options: OpenExchangeOptions): Promise<OpenAnswer> =>
  new Promise((resolve, reject) => {
    const { target, method } = hop
    const { signal, toError, maxResponseBytes } = options
    const { host } = target
    let idleMs = options.bodyIdleMs
    const pool = options.pools.get(target.origin)
    let body: ReturnType<typeof createBodyStream> | undefined
    let isOver = false

    const finish = (): boolean => {
      if (isOver) return false
      isOver = true
      clearTimeout(headersTimer)
      signal?.removeEventListener('abort', onAbort)
      return true
    }
    /** Tells whoever waits: for the answer, or for the rest of its body. */
    const fail = (error: unknown): void => {
      if (!finish()) return
      if (body === undefined) reject(error)
      else body.fail(error)
    }
    /** Ends the request, too: the other end sees its connection close. */
    const cut = (error: unknown): void => {
      fail(error)
      carriage.breakOff()
    }
    const cutFor = (problem: Problem): void => cut(toError(problem))
    const problem = (error: unknown): Problem => {
      const standing = { host, phase: carriage.phase(), isTls: target.origin.startsWith('https:'), bodyIdleMs: idleMs }
      return { ...problemOf(error, { ...standing, maxHeaderBytes: options.maxHeaderBytes }), cause: error }
    }
    const onAbort = (): void => cut(signal?.reason)

    const begin = (status: number, headers: ResponseHeaders, statusText: string): void => {
      const isEvents = isEventStream(headers)
      const refusal = refusalOf(host, status, headers, isEvents ? Number.POSITIVE_INFINITY : maxResponseBytes)
      if (refusal !== undefined) {
        cutFor(refusal)
        return
      }
      clearTimeout(headersTimer)
      idleMs = isEvents ? options.streamIdleMs : options.bodyIdleMs
      body = createBodyStream({
        host,
        isEvents,
        maxBytes: maxResponseBytes,
        idleMs,
        onIdle: () => cutFor({ fault: 'timeout', text: `${host} fell silent for ${idleMs} ms in its answer` }),
        pause: carriage.pause,
        resume: carriage.resume,
        onCancel: () => cut(HAS_LEFT),
      })
      resolve({ status, statusText, headers, body: body.stream })
    }

    const carriage = createCarriage(pool, {
      method,
      path: target.path,
      headers: hop.headers,
      body: hop.body ?? null,
      isOver: () => isOver,
      onHead: begin,
      onData: chunk => {
        const refusal = body?.add(chunk)
        if (refusal !== undefined) cutFor(refusal)
      },
      onEnd: () => {
        if (finish()) body?.end()
      },
      onFlood: () => cutFor({ fault: 'protocol', text: `${host} sent one interim answer after the other` }),
      onError: error => fail(toError(problem(error))),
    })

    const headersTimer = setTimeout(() => cutFor(timeoutProblem(host, carriage.phase())), options.headersTimeoutMs)
    headersTimer.unref()
    if (signal?.aborted) {
      onAbort()
      return
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    carriage.start()
  })
