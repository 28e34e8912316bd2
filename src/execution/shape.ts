import { isUtf8 } from 'node:buffer'
import type { JsonValue } from '../kernel/index.ts'
import type { OutboundResponse } from '../platform/net/index.ts'
import type { SchemaCheck } from '../toolkits/index.ts'
import type { ContentBlock, ToolResult } from './compiled-server.ts'
import { errorResult } from './faults.ts'
import type { Masker } from './masking.ts'
import { splitMultipart } from './multipart.ts'

/** How much of an error's body the model gets to read. */
const ERROR_BODY_CHARACTERS = 2_000

const TEXT_TYPE = /^text\/|[/+](json|xml|yaml|x-yaml|javascript|ndjson|x-ndjson|x-www-form-urlencoded|graphql|csv)$/

const headerOf = ({ headers }: OutboundResponse, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

type MediaType = { type: string | undefined; charset: string | undefined }

/** `type/subtype` in lower case, and the charset where one is said (RFC 9110 §8.3.1). */
const parseMediaType = (header: string | undefined): MediaType => {
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
  const { type, charset } = parseMediaType(headerOf(response, 'content-type'))
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

const structuredAnswer = (text: string, check: SchemaCheck): ToolResult => {
  const parsed = parseAnswer(text)
  if (parsed === undefined) return errorResult('The API answered no JSON, though the tool declares an output schema.')
  const mismatch = check(parsed.json)
  if (mismatch !== undefined) return errorResult(`The API's answer does not fit the tool's output schema: ${mismatch}`)
  return { content: [{ type: 'text', text }], structuredContent: parsed.json }
}

const binaryBlock = (type: string, body: Buffer, uri: string): ContentBlock => {
  const data = body.toString('base64')
  if (type.startsWith('image/')) return { type: 'image', data, mimeType: type }
  if (type.startsWith('audio/')) return { type: 'audio', data, mimeType: type }
  return { type: 'resource', resource: { uri, mimeType: type, blob: data } }
}

/** Bytes of one type as the block for it. */
const toBlock = (body: Buffer, { type, charset }: MediaType, uri: string, masker: Masker): ContentBlock =>
  isText(type, body)
    ? { type: 'text', text: masker.text(decode(body, charset)) }
    : binaryBlock(type ?? 'application/octet-stream', masker.bytes(body), uri)

/** Several things in one answer, a block each; undefined when it is not put together as RFC 2046 §5.1 says. */
const multipartAnswer = (response: OutboundResponse, uri: string, masker: Masker): ToolResult | undefined => {
  const parts = splitMultipart(headerOf(response, 'content-type') ?? '', response.body)
  if (parts === undefined) return undefined
  const content = parts.map(({ contentType, body }, index) =>
    toBlock(body, parseMediaType(contentType ?? 'text/plain'), `${uri}#part-${index + 1}`, masker),
  )
  return { content }
}

/** An API's answer as the model gets it (contract: "What a call returns"). */
export const shapeAnswer = (
  response: OutboundResponse,
  masker: Masker,
  outputCheck: SchemaCheck | undefined,
): ToolResult => {
  if (response.status < 200 || response.status > 299) return errorAnswer(response, masker)
  const mediaType = parseMediaType(headerOf(response, 'content-type'))
  if (outputCheck !== undefined) {
    return structuredAnswer(masker.text(decode(response.body, mediaType.charset)), outputCheck)
  }
  if (response.body.length === 0) {
    return { content: [{ type: 'text', text: `${statusLine(response)}, with an empty body` }] }
  }
  const uri = masker.text(response.url)
  const several = mediaType.type?.startsWith('multipart/') ? multipartAnswer(response, uri, masker) : undefined
  return several ?? { content: [toBlock(response.body, mediaType, uri, masker)] }
}
