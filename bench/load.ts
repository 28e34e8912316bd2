/**
 * The load: connections that each keep one request under way, for a bounded time and count. The status and length of
 * every answer are checked, and every 20th is parsed in full. A wrong answer is an error, and where there are errors
 * no speed is reported: a server that fails fast is not fast.
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
import { type Answer, type Connection, openConnection } from './wire.ts'

export type LoadOptions = {
  endpoint: Endpoint
  era: Era
  work: Work
  connections: number
  durationMs: number
  /** Ends the load before its time. */
  isDone?: () => boolean
  /** Parses every answer, where one wrong answer in a thousand matters more than speed. */
  parsesAll?: boolean
}
export type LoadResult = {
  answers: number
  errors: Record<string, number>
  seconds: number
  /** NaN when there was an error, as are the latencies. */
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  bytesPerAnswer: number
}

const PARSE_EVERY = 20
const MAX_REQUESTS = 5_000_000
/** After the load's own time: an answer that has not come by then is an error. */
const GRACE_MS = 30_000
/** Ids of one width, so that they can be written over each other and answers keep their length. */
const FIRST_ID = 10_000_000

/** What is wrong with an answer that is parsed in full; undefined when nothing is. */
export const findFault = (answer: Answer, id: number, work: Work): string | undefined => {
  if (answer.status !== 200) return `HTTP ${answer.status}`
  const message = messageOf(answer, id)
  if (message === undefined) return 'no message with the id of the request'
  if (message.error !== undefined) return `JSON-RPC ${message.error.code} ${message.error.message}`
  if (message.result?.isError === true) return `isError ${JSON.stringify(message.result.content).slice(0, 200)}`
  const text = work.method === 'tools/list' ? JSON.stringify(message.result?.tools) : message.result?.content?.[0]?.text
  return typeof text === 'string' && text.includes(work.expected) ? undefined : 'the expected text is missing'
}

const createChecker = (work: Work, parsesAll: boolean) => {
  let usualBytes = -1
  let count = 0
  return (answer: Answer, id: number): string | undefined => {
    const isSampled = parsesAll || count++ % PARSE_EVERY === 0
    if (!isSampled && answer.status === 200 && answer.bytes === usualBytes) return undefined
    try {
      const fault = findFault(answer, id, work)
      if (fault === undefined) usualBytes = answer.bytes
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
  let bytes = 0
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
      const answer = await connection.request(request)
      const latencyMs = performance.now() - from
      const fault = check(answer, id)
      if (fault === undefined) latenciesMs.push(latencyMs)
      else errors[fault] = (errors[fault] ?? 0) + 1
      bytes += answer.bytes
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
    answers: latenciesMs.length,
    errors,
    seconds,
    requestsPerSecond: figure(latenciesMs.length / seconds),
    p50Ms: figure(quantile(latenciesMs, 0.5)),
    p99Ms: figure(quantile(latenciesMs, 0.99)),
    bytesPerAnswer: bytes / Math.max(1, latenciesMs.length),
  }
}
