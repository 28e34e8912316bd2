import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { EXPOSED_HEADERS } from '../lib/http/origins.ts'
import { REQUEST_ID } from '../lib/http/request-ids.ts'
import { ERROR } from './protocol.ts'
import { errorResponse, type Refusal, type RpcResponse, refusal, sizeOf } from './rpc-response.ts'

/** An HTTP request to a server, together with its response. */
export type HttpExchange = {
  incoming: IncomingMessage
  raw: ServerResponse
  headers: IncomingHttpHeaders
  serverId: string
  /** As in the log and the history. */
  requestId: string
  /** The value of Access-Control-Allow-Origin. Undefined unless a page sent the request and may read the response. */
  allowedOrigin?: string | undefined
}

/** Returns the CORS headers that let the calling page read the response (Fetch standard, "CORS protocol"). */
const corsFields = (allowedOrigin: string): string[] => [
  'access-control-allow-origin',
  allowedOrigin,
  'access-control-expose-headers',
  EXPOSED_HEADERS,
  'vary',
  'Origin',
]

/**
 * Writes the status and the headers. `fields` is a flat list of names and values, which Node writes unchanged. Adds the
 * request id, unless a response that is passed on has one of its own.
 */
export const writeHead = (http: HttpExchange, status: number, fields: readonly string[]): void => {
  const { raw, allowedOrigin, requestId } = http
  const all = fields.includes(REQUEST_ID) ? [...fields] : [...fields, REQUEST_ID, requestId]
  raw.writeHead(status, allowedOrigin === undefined ? all : [...all, ...corsFields(allowedOrigin)])
}

/** Whether the client has disconnected. This is checked directly, because 'close' may already have been emitted. */
export const hasDisconnected = ({ raw }: HttpExchange): boolean => raw.destroyed || raw.socket?.destroyed === true

/** Only responses larger than this get a stall timer. Smaller ones mostly fit into the network buffers. */
const LARGE_BYTES = 64 * 1_024
/** A client that reads none of a large response for this long is disconnected. */
const MAX_STALL_MS = 30_000

/** Disconnects clients that stop reading, because the response would stay in memory. Call this after `raw.end`. */
export const limitStall = (raw: ServerResponse, bytes: number): void => {
  if (bytes <= LARGE_BYTES || raw.writableFinished) return
  raw.setTimeout(MAX_STALL_MS, () => raw.destroy())
  // Runs before Node's own listener, which sets the keep-alive timeout.
  raw.prependListener('finish', () => raw.setTimeout(0))
}

const MAX_JOINED_CHARACTERS = 128 * 1_024

/**
 * Moves long text into a buffer. Node would concatenate a string with the HTTP head before encoding both, which is
 * expensive.
 */
const shortened = (response: RpcResponse): RpcResponse =>
  response.head.length > MAX_JOINED_CHARACTERS
    ? { ...response, head: '', rest: [Buffer.from(response.head), ...response.rest] }
    : response

const JSON_FIELDS = ['content-type', 'application/json', 'x-content-type-options', 'nosniff']

/**
 * Sends white space, with which JSON may begin (RFC 8259 §2), so that proxies keep the connection of a slow response
 * open. From then on, the status is 200, whatever the response will be.
 */
export const writeWhiteSpace = (http: HttpExchange): void => {
  const { raw } = http
  if (raw.destroyed || raw.writableEnded) return
  if (!raw.headersSent) writeHead(http, 200, JSON_FIELDS)
  raw.write(' ')
}

/** Writes a response. If white space has been sent, only the body is left to write. */
export const writeResponse = (http: HttpExchange, response: RpcResponse): void => {
  const { raw } = http
  const { status, head, rest, headers } = shortened(response)
  const length = sizeOf({ head, rest })
  if (!raw.headersSent) {
    const all = [...JSON_FIELDS, 'content-length', String(length)]
    writeHead(http, status, headers === undefined ? all : [...all, ...headers])
  }
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

export const writeRefusal = (http: HttpExchange, reason: Refusal): void =>
  writeResponse(http, errorResponse(null, reason))

/** Reports an unexpected error, with the id of the HTTP request if there is one. Callers receive no details. */
export type ReportFault = (error: unknown, message: string, requestId?: string) => void

/** Returns the error for an unexpected exception, with the id under which the log has it. */
export const internalError = (status: number, requestId: string | undefined): Refusal =>
  refusal(status, ERROR.internal, 'Internal error', requestId === undefined ? undefined : { requestId })

/** Handles an unexpected exception. In an event listener, the exception would otherwise end the process. */
export const writeFault = (http: HttpExchange, error: unknown, report: ReportFault): void => {
  report(error, 'unexpected error while handling an MCP request', http.requestId)
  if (!http.raw.headersSent) writeRefusal(http, internalError(500, http.requestId))
}

/** Sends status 202 for messages that get no response: notifications, responses and cancelled requests. */
export const writeAccepted = (http: HttpExchange): void => {
  if (!http.raw.headersSent) writeHead(http, 202, ['content-length', '0'])
  http.raw.end()
}
