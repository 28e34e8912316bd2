import { isUtf8 } from 'node:buffer'
import type { JsonValue } from '../kernel/index.ts'
import type { OutboundResponse } from '../platform/net/index.ts'
import type { ToolResult } from './compiled-server.ts'
import { errorResult } from './faults.ts'
import type { Masker } from './masking.ts'
import type { OutputCheck } from './output-schema.ts'

/** How much of an error's body the model gets to read. */
const ERROR_BODY_CHARACTERS = 2_000

const TEXT_TYPE = /^text\/|[/+](json|xml|yaml|x-yaml|javascript|ndjson|x-ndjson|x-www-form-urlencoded|graphql|csv)$/

const headerOf = ({ headers }: OutboundResponse, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

/** `type/subtype` in lower case, and the charset where one is said (RFC 9110 §8.3.1). */
const mediaTypeOf = (response: OutboundResponse): { type: string | undefined; charset: string | undefined } => {
  const header = headerOf(response, 'content-type')
  if (header === undefined) return { type: undefined, charset: undefined }
  const semicolon = header.indexOf(';')
  if (semicolon === -1) return { type: header.trim().toLowerCase(), charset: undefined }
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(header)?.[1]?.toLowerCase()
  return { type: header.slice(0, semicolon).trim().toLowerCase(), charset }
}

/** By the charset that was said; UTF-8 where none was, or one that nobody knows. */
const decode = (body: Buffer, charset: string | undefined): string => {
  if (charset === undefined || charset === 'utf-8' || charset === 'utf8') return body.toString('utf8')
  try {
    return new TextDecoder(charset).decode(body)
  } catch {
    return body.toString('utf8')
  }
}

const isText = (type: string | undefined, body: Buffer): boolean =>
  type === undefined ? isUtf8(body) : TEXT_TYPE.test(type)

const statusLine = ({ status, statusText }: OutboundResponse): string =>
  statusText === '' ? `HTTP ${status}` : `HTTP ${status} ${statusText}`

const errorAnswer = (response: OutboundResponse, masker: Masker): ToolResult => {
  const { type, charset } = mediaTypeOf(response)
  const retryAfter = headerOf(response, 'retry-after')
  const lines = [statusLine(response)]
  if (retryAfter !== undefined) lines.push(`Retry-After: ${retryAfter}`)
  if (isText(type, response.body)) {
    const text = masker.text(decode(response.body, charset))
    lines.push(text.length > ERROR_BODY_CHARACTERS ? `${text.slice(0, ERROR_BODY_CHARACTERS)}…` : text)
  } else lines.push(`(${response.body.length} bytes of ${type})`)
  return errorResult(lines.join('\n').trimEnd().toWellFormed())
}

const parseAnswer = (text: string): { json: JsonValue } | undefined => {
  try {
    return { json: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const structuredAnswer = (text: string, check: OutputCheck): ToolResult => {
  const parsed = parseAnswer(text)
  if (parsed === undefined) return errorResult('The API answered no JSON, though the tool declares an output schema.')
  const mismatch = check(parsed.json)
  if (mismatch !== undefined) return errorResult(`The API's answer does not fit the tool's output schema: ${mismatch}`)
  return { content: [{ type: 'text', text }], structuredContent: parsed.json }
}

const binaryAnswer = (type: string, body: Buffer, uri: string): ToolResult => {
  const data = body.toString('base64')
  if (type.startsWith('image/')) return { content: [{ type: 'image', data, mimeType: type }] }
  if (type.startsWith('audio/')) return { content: [{ type: 'audio', data, mimeType: type }] }
  return { content: [{ type: 'resource', resource: { uri, mimeType: type, blob: data } }] }
}

/** An API's answer as the model gets it (contract: "What a call returns"). */
export const shapeAnswer = (
  response: OutboundResponse,
  masker: Masker,
  outputCheck: OutputCheck | undefined,
): ToolResult => {
  if (response.status < 200 || response.status > 299) return errorAnswer(response, masker)
  const { type, charset } = mediaTypeOf(response)
  if (response.body.length === 0 && outputCheck === undefined) {
    return { content: [{ type: 'text', text: `${statusLine(response)}, with an empty body` }] }
  }
  if (isText(type, response.body)) {
    const text = masker.text(decode(response.body, charset))
    return outputCheck === undefined ? { content: [{ type: 'text', text }] } : structuredAnswer(text, outputCheck)
  }
  const uri = masker.text(response.url)
  return binaryAnswer(type ?? 'application/octet-stream', masker.bytes(response.body), uri)
}
