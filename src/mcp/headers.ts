import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { acceptedTypesOf } from '../lib/http/reader.ts'
import type { RequestMessage } from './message.ts'
import { ERROR } from './protocol.ts'
import { type Refusal, refusal } from './rpc-response.ts'

/** Returns the value of a header. Node has already joined repeated headers and trimmed whitespace. */
export const headerOf = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** Refuses a header that differs from the body (2026-07-28, basic/transports, "Standard Request Headers"). */
export const headerMismatch = (header: string, got: string, body: string): Refusal =>
  refusal(400, ERROR.headerMismatch, `Header mismatch: ${header} is ${got}, but the body has ${body}`, {
    mismatch: { header: got, body },
  })

/** Refuses a header whose value is not valid Base64. */
export const invalidBase64 = (header: string, got: string): Refusal =>
  refusal(400, ERROR.headerMismatch, `Header mismatch: ${header} is not valid Base64: ${got}`, {
    mismatch: { header: got, body: 'it is not valid Base64' },
  })

const SENTINEL = /^=\?base64\?(.*)\?=$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Decodes a header value that may be Base64 between `=?base64?` and `?=`. Returns undefined if it is invalid. */
export const decodeHeaderText = (value: string): string | undefined => {
  const encoded = SENTINEL.exec(value)?.[1]
  if (encoded === undefined) return value
  if (!BASE64.test(encoded)) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  return isUtf8(bytes) ? bytes.toString() : undefined
}

/** Methods whose requests repeat a parameter in the Mcp-Name header, with the name of the parameter. */
const NAME_SOURCE: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
])

/**
 * Checks that the standard headers are present and that Mcp-Name matches the body. `classify` has already checked the
 * other values.
 */
export const checkStandardHeaders = (request: RequestMessage, headers: IncomingHttpHeaders): Refusal | undefined => {
  const { method, params } = request
  if (headers['mcp-protocol-version'] === undefined) return missingHeader('MCP-Protocol-Version')
  if (headers['mcp-method'] === undefined) return missingHeader('Mcp-Method')
  const source = NAME_SOURCE.get(method)
  if (source === undefined) return undefined
  const expected = params?.[source]
  const given = headerOf(headers, 'mcp-name')
  if (given === undefined) return typeof expected === 'string' ? missingHeader('Mcp-Name') : undefined
  if (given === expected && !given.startsWith('=?')) return undefined
  const decoded = decodeHeaderText(given)
  if (decoded === undefined) return invalidBase64('Mcp-Name', given)
  return typeof expected === 'string' && decoded !== expected ? headerMismatch('Mcp-Name', given, expected) : undefined
}

const missingHeader = (header: string): Refusal =>
  refusal(400, ERROR.headerMismatch, `Header mismatch: the required header ${header} is missing`, {
    mismatch: { header: '(missing)', body: header },
  })

const accepts = (accept: string | undefined, mediaType: string): boolean => {
  if (accept === undefined) return false
  // Fast path for the form that every current client sends.
  if (accept.includes(mediaType) && !accept.includes('q=')) return true
  const wildcard = `${mediaType.split('/', 1)[0]}/*`
  return acceptedTypesOf(accept).some(type => type === mediaType || type === wildcard || type === '*/*')
}

/**
 * Whether the client accepts event streams. MCP requires the Accept header, so a request without one accepts nothing.
 */
export const acceptsEventStream = (headers: IncomingHttpHeaders): boolean =>
  accepts(headers.accept, 'text/event-stream')
export const acceptsJson = (headers: IncomingHttpHeaders): boolean => accepts(headers.accept, 'application/json')

export const isJsonContent = (headers: IncomingHttpHeaders): boolean => {
  const type = headers['content-type']
  return type === 'application/json' || type?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json'
}
