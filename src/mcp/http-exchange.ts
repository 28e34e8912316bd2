import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { type Answer, errorAnswer, type Refusal, sizeOf } from './answer.ts'

/** One HTTP request with its response, past the checks of Origin and Host. */
export type Exchange = {
  incoming: IncomingMessage
  raw: ServerResponse
  headers: IncomingHttpHeaders
  serverId: string
}

const EXPOSED = 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate'

/** Lets the page that asked read the answer (fetch standard, "CORS protocol"). Origins are checked before. */
const corsFields = (origin: string): string[] => [
  'access-control-allow-origin',
  origin,
  'access-control-expose-headers',
  EXPOSED,
  'vary',
  'Origin',
]

/** `fields` is a flat list of names and values, which Node writes without looking at them again. */
export const writeHead = ({ raw, headers }: Exchange, status: number, fields: readonly string[]): void => {
  raw.writeHead(status, headers.origin === undefined ? [...fields] : [...fields, ...corsFields(headers.origin)])
}

/** Whether the client has left: then 'close' may have been emitted already, and listening for it is too late. */
export const hasLeft = ({ raw }: Exchange): boolean => raw.destroyed || raw.socket?.destroyed === true

/** Answers over this many bytes are worth a timer: smaller ones mostly fit into the network's own buffers. */
const LARGE_BYTES = 64 * 1_024
/** How long a reader of a large answer may take nothing of it. */
const MAX_STALL_MS = 30_000

/** Destroys the connection of a reader that has stopped, which would hold the answer in memory. After `raw.end`. */
export const limitStall = (raw: ServerResponse, bytes: number): void => {
  if (bytes <= LARGE_BYTES || raw.writableFinished) return
  raw.setTimeout(MAX_STALL_MS, () => raw.destroy())
  // Before Node's own listener, which sets the time that an unused connection is kept.
  raw.prependListener('finish', () => raw.setTimeout(0))
}

const MAX_JOINED_CHARACTERS = 128 * 1_024

/** Node joins a text with the head of the response before it encodes both: too dear for a long one. */
const shortened = (answer: Answer): Answer =>
  answer.head.length > MAX_JOINED_CHARACTERS
    ? { ...answer, head: '', rest: [Buffer.from(answer.head), ...answer.rest] }
    : answer

export const writeAnswer = (exchange: Exchange, answer: Answer, fields?: readonly string[]): void => {
  const { raw } = exchange
  const { status, head, rest } = shortened(answer)
  const length = sizeOf({ head, rest })
  const all = [
    'content-type',
    'application/json',
    'content-length',
    String(length),
    'x-content-type-options',
    'nosniff',
  ]
  writeHead(exchange, status, fields === undefined ? all : [...all, ...fields])
  const last = rest.at(-1)
  if (last === undefined) raw.end(head)
  else {
    raw.write(head)
    for (const piece of rest) {
      if (piece === last) raw.end(piece)
      else raw.write(piece)
    }
  }
  limitStall(raw, length)
}

export const writeRefusal = (exchange: Exchange, reason: Refusal, fields?: readonly string[]): void =>
  writeAnswer(exchange, errorAnswer(null, reason), fields)

/** What is received and has no answer: notifications, answers, cancelled requests. */
export const writeAccepted = (exchange: Exchange): void => {
  writeHead(exchange, 202, ['content-length', '0'])
  exchange.raw.end()
}
