import { isUtf8 } from 'node:buffer'
import { isDeepStrictEqual } from 'node:util'
import type { JsonValue } from '../../lib/kernel/json.ts'
import type { OutboundResponse } from '../../lib/outbound/http-client.ts'
import { errorResult } from '../../runtime/call/faults.ts'
import type { BlocksResult, ContentBlock, ToolResult } from '../../runtime/call/tool-result.ts'
import type { SchemaCheck } from '../../tools/json-schema.ts'
import { maskLongStrings, maskStrings } from '../mask/mask-json.ts'
import type { Masker } from '../mask/masking.ts'
import { splitMultipart } from './multipart.ts'

/** Maximum characters of an error's body that the model sees. */
const ERROR_BODY_CHARACTERS = 2_000

const TEXT_TYPE =
  /^text\/|[/+](?:x-)?(?:json|xml|yaml|javascript|ndjson|jsonl|jsonlines|json-lines|www-form-urlencoded|graphql|csv)$/

const headerOf = ({ headers }: OutboundResponse, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

type MediaType = { type: string | undefined; charset: string | undefined }

/** Returns `type/subtype` in lower case, and the charset if declared (RFC 9110 §8.3.1). Ignores an empty header. */
const parseMediaType = (header: string | undefined): MediaType => {
  if (header === undefined || header === '') return { type: undefined, charset: undefined }
  const semicolon = header.indexOf(';')
  if (semicolon === -1) return { type: header.trim().toLowerCase(), charset: undefined }
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(header)?.[1]?.toLowerCase()
  return { type: header.slice(0, semicolon).trim().toLowerCase(), charset }
}

/** Returns the media type to show. Masks before lowercasing, which would hide a secret from the masker. */
const shownType = (contentType: string | undefined, masker: Masker): string =>
  parseMediaType(contentType && masker.text(contentType)).type ?? 'application/octet-stream'

/** Whether the charset is UTF-8, which is also the default. */
const isUnicode = (charset: string | undefined): boolean =>
  charset === undefined || charset === 'utf-8' || charset === 'utf8'

/** Decodes a body by its charset; as UTF-8 if it is missing or unknown. */
const decode = (body: Buffer, charset: string | undefined): string => {
  if (charset === undefined || isUnicode(charset)) return body.toString('utf8')
  try {
    return new TextDecoder(charset).decode(body)
  } catch {
    return body.toString('utf8')
  }
}

const isText = (type: string | undefined, body: Buffer): boolean =>
  type === undefined ? isUtf8(body) : TEXT_TYPE.test(type)

const statusLine = ({ status, statusText }: OutboundResponse, masker: Masker): string =>
  statusText === '' ? `HTTP ${status}` : `HTTP ${status} ${masker.text(statusText)}`

/** `shown`: the body's masked text; undefined if it is not text. */
const errorAnswer = (response: OutboundResponse, masker: Masker, shown: string | undefined): BlocksResult => {
  const contentType = headerOf(response, 'content-type')
  const retryAfter = headerOf(response, 'retry-after')
  const lines = [statusLine(response, masker)]
  if (retryAfter !== undefined) lines.push(`Retry-After: ${masker.text(retryAfter)}`)
  if (shown === undefined) lines.push(`(${response.body.length} bytes of ${shownType(contentType, masker)})`)
  else lines.push(shown.length > ERROR_BODY_CHARACTERS ? `${shown.slice(0, ERROR_BODY_CHARACTERS)}…` : shown)
  return errorResult(lines.join('\n').trimEnd().toWellFormed())
}

const parseDocument = (text: string): { json: JsonValue } | undefined => {
  try {
    return { json: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const NO_JSON = 'The answer is no JSON, though the tool declares an output schema.'

/** `masked`: the parsed value with its secrets masked. */
const fitAnswer = (text: string, parsed: JsonValue, masked: JsonValue, check: SchemaCheck): BlocksResult => {
  const mismatch = check(masked)
  if (mismatch !== undefined) return errorResult(`The answer does not fit the tool's output schema: ${mismatch}`)
  const isMasked = masked !== parsed && !isDeepStrictEqual(masked, parsed)
  return { content: [{ type: 'text', text: isMasked ? JSON.stringify(masked) : text }], structuredContent: masked }
}

/** Returns JSON that matches the tool's schema as text and as structured content; otherwise an error. */
export const structuredAnswer = (text: string, check: SchemaCheck, masker: Masker): BlocksResult => {
  const parsed = parseDocument(text)
  if (parsed === undefined) return errorResult(NO_JSON)
  const { json } = parsed
  return fitAnswer(text, json, masker.isEmpty ? json : maskStrings(json, masker), check)
}

const structuredSlowly = async (text: string, check: SchemaCheck, masker: Masker): Promise<BlocksResult> => {
  const parsed = parseDocument(text)
  if (parsed === undefined) return errorResult(NO_JSON)
  return fitAnswer(text, parsed.json, await maskLongStrings(parsed.json, masker), check)
}

const binaryBlock = (type: string, mimeType: string, body: Buffer, uri: string): ContentBlock => {
  const data = body.toString('base64')
  if (type.startsWith('image/')) return { type: 'image', data, mimeType }
  if (type.startsWith('audio/')) return { type: 'audio', data, mimeType }
  return { type: 'resource', resource: { uri, mimeType, blob: data } }
}

/** Returns the content block for a body with the given Content-Type. */
const toBlock = (body: Buffer, contentType: string | undefined, uri: string, masker: Masker): ContentBlock => {
  const { type, charset } = parseMediaType(contentType)
  return isText(type, body)
    ? { type: 'text', text: masker.text(decode(body, charset)) }
    : binaryBlock(type ?? '', shownType(contentType, masker), masker.bytes(body), uri)
}

const toBlockSlowly = async (
  body: Buffer,
  contentType: string | undefined,
  uri: string,
  masker: Masker,
): Promise<ContentBlock> => {
  const { type, charset } = parseMediaType(contentType)
  return isText(type, body)
    ? { type: 'text', text: await masker.longText(decode(body, charset)) }
    : binaryBlock(type ?? '', shownType(contentType, masker), await masker.longBytes(body), uri)
}

const PART_TYPE = 'text/plain'
const partUri = (uri: string, index: number): string => `${uri}#part-${index + 1}`

/** Returns a multipart response as one block per part; undefined if it is malformed (RFC 2046 §5.1). */
const multipartAnswer = (response: OutboundResponse, uri: string, masker: Masker): BlocksResult | undefined => {
  const parts = splitMultipart(headerOf(response, 'content-type') ?? '', response.body)
  if (parts === undefined) return undefined
  const content = parts.map(({ contentType, body }, index) =>
    toBlock(body, contentType ?? PART_TYPE, partUri(uri, index), masker),
  )
  return { content }
}

const multipartSlowly = async (
  response: OutboundResponse,
  uri: string,
  masker: Masker,
): Promise<BlocksResult | undefined> => {
  const parts = splitMultipart(headerOf(response, 'content-type') ?? '', response.body)
  if (parts === undefined) return undefined
  const content: ContentBlock[] = []
  for (const [index, { contentType, body }] of parts.entries()) {
    content.push(await toBlockSlowly(body, contentType ?? PART_TYPE, partUri(uri, index), masker))
  }
  return { content }
}

/** From this size on, passing on the bytes of a text is cheaper than decoding and encoding it. */
export const LONG_TEXT_BYTES = 8 * 1_024

/** Returns the text of a response and its media type; undefined if it is not text. */
export const readText = (response: OutboundResponse): { text: string; type: string | undefined } | undefined => {
  const { type, charset } = parseMediaType(headerOf(response, 'content-type'))
  return isText(type, response.body) ? { text: decode(response.body, charset), type } : undefined
}

/** Whether the body is a long text that needs neither decoding nor masking. */
const isLongPlainText = (body: Buffer, { type, charset }: MediaType, masker: Masker): boolean =>
  body.length >= LONG_TEXT_BYTES && isUnicode(charset) && isText(type, body) && isUtf8(body) && !masker.mayHideIn(body)

const isFailed = ({ status }: OutboundResponse): boolean => status < 200 || status > 299

/** From this size on, masking yields to the event loop. Twenty secrets take 140 ms in 10 MB that contain one. */
const SLOW_TEXT_BYTES = 256 * 1_024

/** Like `shapeAtOnce`, for a long response that may contain secrets: yields to the event loop while masking. */
const shapeSlowly = async (
  response: OutboundResponse,
  masker: Masker,
  outputCheck: SchemaCheck | undefined,
): Promise<ToolResult> => {
  const read = readText(response)
  if (isFailed(response)) return errorAnswer(response, masker, read && (await masker.longText(read.text)))
  const contentType = headerOf(response, 'content-type')
  const { type, charset } = parseMediaType(contentType)
  if (outputCheck !== undefined) {
    return structuredSlowly(await masker.longText(decode(response.body, charset)), outputCheck, masker)
  }
  if (read !== undefined) return { utf8: Buffer.from(await masker.longText(read.text)) }
  const uri = masker.text(response.url)
  const several = type?.startsWith('multipart/') ? await multipartSlowly(response, uri, masker) : undefined
  return several ?? { content: [await toBlockSlowly(response.body, contentType, uri, masker)] }
}

const shapeAtOnce = (response: OutboundResponse, masker: Masker, outputCheck: SchemaCheck | undefined): ToolResult => {
  if (isFailed(response)) {
    const read = readText(response)
    return errorAnswer(response, masker, read && masker.text(read.text))
  }
  const contentType = headerOf(response, 'content-type')
  const mediaType = parseMediaType(contentType)
  const { type, charset } = mediaType
  if (outputCheck !== undefined) {
    return structuredAnswer(masker.text(decode(response.body, charset)), outputCheck, masker)
  }
  if (response.body.length === 0) {
    return { content: [{ type: 'text', text: `${statusLine(response, masker)}, with an empty body` }] }
  }
  if (isLongPlainText(response.body, mediaType, masker)) return { utf8: response.body }
  const uri = masker.text(response.url)
  const several = type?.startsWith('multipart/') ? multipartAnswer(response, uri, masker) : undefined
  return several ?? { content: [toBlock(response.body, contentType, uri, masker)] }
}

/** Returns an API's response as a result. Returns a promise if the response is long and may contain a secret. */
export const shapeAnswer = (
  response: OutboundResponse,
  masker: Masker,
  outputCheck: SchemaCheck | undefined,
): ToolResult | Promise<ToolResult> => {
  const isSlow = response.body.length >= SLOW_TEXT_BYTES && masker.mayHideIn(response.body)
  return isSlow ? shapeSlowly(response, masker, outputCheck) : shapeAtOnce(response, masker, outputCheck)
}
