/**
 * The load: connections that each have one pending request at a time, limited in duration and number of requests. The
 * status and length of every response are checked, and every 20th response is parsed completely. If any response is
 * wrong, no speed is reported, because a server that fails fast is not fast.
 */
import {
  closeSession,
  type Endpoint,
  type Era,
  encodePost,
  messageOf,
  openSession,
  type Session,
  STATELESS,
} from './mcp.ts'
import { quantile } from './statistics.ts'
import type { Work } from './tools.ts'
import { type Connection, type HttpResponse, openConnection } from './wire.ts'

export type LoadOptions = {
  endpoint: Endpoint
  era: Era
  work: Work
  connections: number
  durationMs: number
  /** Ends the load early when it returns true. */
  isDone?: () => boolean
  /** Parses every response. For scenarios where one wrong response in a thousand matters more than speed. */
  parsesAll?: boolean
}
export type LoadResult = {
  responses: number
  errors: Record<string, number>
  seconds: number
  /** NaN if there were errors, as are the latencies. */
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
}

const PARSE_EVERY = 20
const MAX_REQUESTS = 5_000_000
/** How long after the end of the load a response may still arrive without counting as an error. */
const GRACE_MS = 30_000
/** All ids have the same number of digits, so that they can be overwritten in place and responses keep their length. */
const FIRST_ID = 10_000_000

/** Parses a response and returns what is wrong with it, or undefined if it is correct. */
export const findFault = (response: HttpResponse, id: number, work: Work): string | undefined => {
  if (response.status !== 200) return `HTTP ${response.status}`
  const message = messageOf(response, id)
  if (message === undefined) return 'no message has the id of the request'
  if (message.error !== undefined) return `JSON-RPC ${message.error.code} ${message.error.message}`
  if (message.result?.isError === true) return `isError ${JSON.stringify(message.result.content).slice(0, 200)}`
  const text = work.method === 'tools/list' ? JSON.stringify(message.result?.tools) : message.result?.content?.[0]?.text
  return typeof text === 'string' && text.includes(work.expected) ? undefined : 'the expected text is missing'
}

const createChecker = (work: Work, parsesAll: boolean) => {
  let usualBytes = -1
  let count = 0
  return (response: HttpResponse, id: number): string | undefined => {
    const isSampled = parsesAll || count++ % PARSE_EVERY === 0
    if (!isSampled && response.status === 200 && response.bytes === usualBytes) return undefined
    try {
      const fault = findFault(response, id, work)
      if (fault === undefined) usualBytes = response.bytes
      return fault
    } catch (error) {
      return `not JSON: ${error instanceof Error ? error.message : error}`
    }
  }
}

type Lane = { connection: Connection; session: Session }

const openLane = async (endpoint: Endpoint, era: Era): Promise<Lane> => {
  const connection = await openConnection(endpoint.port)
  return { connection, session: era === 'session' ? await openSession(endpoint, connection) : STATELESS }
}

export const runLoad = async (options: LoadOptions): Promise<LoadResult> => {
  const { endpoint, era, work, durationMs, isDone = () => false, parsesAll = false } = options
  const lanes = await Promise.all(Array.from({ length: options.connections }, () => openLane(endpoint, era)))
  const check = createChecker(work, parsesAll)
  const errors: Record<string, number> = {}
  const latenciesMs: number[] = []
  let sent = 0

  const startedAt = performance.now()
  const isOver = () => sent >= MAX_REQUESTS || performance.now() - startedAt >= durationMs || isDone()
  const runLane = async ({ connection, session }: Lane): Promise<void> => {
    const request = encodePost(endpoint, session, { id: FIRST_ID, method: work.method, params: work.params })
    const idAt = request.indexOf(`"id":${FIRST_ID}`) + '"id":'.length
    while (!isOver()) {
      const id = FIRST_ID + ++sent
      request.write(String(id), idAt, 'latin1')
      const from = performance.now()
      const response = await connection.request(request)
      const latencyMs = performance.now() - from
      const fault = check(response, id)
      if (fault === undefined) latenciesMs.push(latencyMs)
      else errors[fault] = (errors[fault] ?? 0) + 1
    }
  }
  const guard = setTimeout(() => {
    for (const { connection } of lanes) connection.close()
  }, durationMs + GRACE_MS)
  const ends = await Promise.allSettled(lanes.map(runLane))
  const seconds = (performance.now() - startedAt) / 1_000
  for (const end of ends) {
    if (end.status === 'rejected') errors[String(end.reason)] = (errors[String(end.reason)] ?? 0) + 1
  }
  await Promise.allSettled(lanes.map(({ connection, session }) => closeSession(endpoint, connection, session)))
  clearTimeout(guard)
  for (const { connection } of lanes) connection.close()

  const isRight = Object.keys(errors).length === 0
  const figure = (value: number): number => (isRight ? value : Number.NaN)
  return {
    responses: latenciesMs.length,
    errors,
    seconds,
    requestsPerSecond: figure(latenciesMs.length / seconds),
    p50Ms: figure(quantile(latenciesMs, 0.5)),
    p99Ms: figure(quantile(latenciesMs, 0.99)),
  }
}
