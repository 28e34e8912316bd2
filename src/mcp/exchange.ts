import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { type Answer, errorAnswer, type Refusal } from './answer.ts'

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

const MAX_JOINED_CHARACTERS = 128 * 1_024

export const writeAnswer = (exchange: Exchange, { status, head, page }: Answer, fields?: readonly string[]): void => {
  const { raw } = exchange
  // Node joins a text with the head of the response before it encodes both: too dear for a long one.
  const body = head.length > MAX_JOINED_CHARACTERS ? Buffer.from(head) : head
  const length = Buffer.byteLength(body) + (page?.length ?? 0)
  const all = [
    'content-type',
    'application/json',
    'content-length',
    String(length),
    'x-content-type-options',
    'nosniff',
  ]
  writeHead(exchange, status, fields === undefined ? all : [...all, ...fields])
  if (page === undefined) {
    raw.end(body)
    return
  }
  raw.write(body)
  raw.end(page)
}

export const writeRefusal = (exchange: Exchange, reason: Refusal, fields?: readonly string[]): void =>
  writeAnswer(exchange, errorAnswer(null, reason), fields)

/** What is received and has no answer: notifications, answers, cancelled requests. */
export const writeAccepted = (exchange: Exchange): void => {
  writeHead(exchange, 202, ['content-length', '0'])
  exchange.raw.end()
}
