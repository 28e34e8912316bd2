import { isUtf8 } from 'node:buffer'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import { isSuccess, type OutboundResponse } from '../../lib/outbound/outbound-request.ts'
import { type BlocksResult, type ContentBlock, errorResult, type ToolResult } from '../../runtime/call/tool-result.ts'
import type { SchemaTrim } from '../../tools/schemas/schema-check.ts'
import type { Masker } from '../mask/masking.ts'
import { splitMultipart } from './multipart.ts'
import { NOT_JSON, type ShapedResult, structuredResult, withoutStructure } from './structured-result.ts'

/** Maximum number of characters of an error response's body that the model sees. */
const ERROR_BODY_CHARACTERS = 2_000

const TEXT_TYPE =
  /^text\/|[/+](?:x-)?(?:json|xml|yaml|javascript|ndjson|jsonl|jsonlines|json-lines|www-form-urlencoded|graphql|csv)$/

const headerOf = ({ headers }: Pick<OutboundResponse, 'headers'>, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

type MediaType = { type: string | undefined; charset: string | undefined }

/** Returns `type/subtype` in lower case and the declared charset, if any (RFC 9110 §8.3.1). Ignores an empty header. */
const parseMediaType = (header: string | undefined): MediaType => {
  if (header === undefined || header === '') return { type: undefined, charset: undefined }
  const semicolon = header.indexOf(';')
  if (semicolon === -1) return { type: header.trim().toLowerCase(), charset: undefined }
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(header)?.[1]?.toLowerCase()
  return { type: header.slice(0, semicolon).trim().toLowerCase(), charset }
}

/** Returns the media type to show. Masks secrets first, because the masker would not find a lowercased secret. */
const shownType = (contentType: string | undefined, masker: Masker): string =>
  parseMediaType(contentType && masker.text(contentType)).type ?? 'application/octet-stream'

/** Returns whether the charset is UTF-8, which is also the default. */
const isUnicode = (charset: string | undefined): boolean =>
  charset === undefined || charset === 'utf-8' || charset === 'utf8'

/** Decodes a body using its charset, or as UTF-8 if the charset is missing or unknown. */
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

/** Builds the result for an error response. `shown` is the body's masked text, or undefined if the body is not text. */
const errorResponseResult = (response: OutboundResponse, masker: Masker, shown: string | undefined): BlocksResult => {
  const contentType = headerOf(response, 'content-type')
  const retryAfter = headerOf(response, 'retry-after')
  const lines = [statusLine(response, masker)]
  if (retryAfter !== undefined) lines.push(`Retry-After: ${masker.text(retryAfter)}`)
  if (shown === undefined) lines.push(`(${response.body.length} bytes of ${shownType(contentType, masker)})`)
  else lines.push(shown.length > ERROR_BODY_CHARACTERS ? `${shown.slice(0, ERROR_BODY_CHARACTERS)}…` : shown)
  return errorResult(lines.join('\n').trimEnd().toWellFormed())
}

const binaryBlock = (type: string, mimeType: string, body: Buffer, uri: string): ContentBlock => {
  const data = body.toString('base64')
  if (type.startsWith('image/')) return { type: 'image', data, mimeType }
  if (type.startsWith('audio/')) return { type: 'audio', data, mimeType }
  return { type: 'resource', resource: { uri, mimeType, blob: data } }
}

/** Returns the content block for a body with the given Content-Type. */
const toBlock = async (
  body: Buffer,
  contentType: string | undefined,
  uri: string,
  masker: Masker,
  signal: StopSignal | undefined,
): Promise<ContentBlock> => {
  const { type, charset } = parseMediaType(contentType)
  return isText(type, body)
    ? { type: 'text', text: await masker.long.text(decode(body, charset), signal) }
    : binaryBlock(type ?? '', shownType(contentType, masker), await masker.long.bytes(body, signal), uri)
}

const PART_TYPE = 'text/plain'
const partUri = (uri: string, index: number): string => `${uri}#part-${index + 1}`

/** Returns a multipart response as one block per part; undefined if it is malformed (RFC 2046 §5.1). */
const multipartResult = async (
  response: OutboundResponse,
  uri: string,
  masker: Masker,
  signal: StopSignal | undefined,
): Promise<BlocksResult | undefined> => {
  const parts = splitMultipart(headerOf(response, 'content-type') ?? '', response.body)
  if (parts === undefined) return undefined
  const content: ContentBlock[] = []
  for (const [index, { contentType, body }] of parts.entries()) {
    content.push(await toBlock(body, contentType ?? PART_TYPE, partUri(uri, index), masker, signal))
  }
  return { content }
}

/** Minimum size at which passing on a text's bytes is cheaper than decoding and re-encoding the text. */
export const LONG_TEXT_BYTES = 8 * 1_024

/** Returns a response's text and media type, or undefined if the response is not text. */
export const decodeText = (response: OutboundResponse): { text: string; type: string | undefined } | undefined => {
  const { type, charset } = parseMediaType(headerOf(response, 'content-type'))
  return isText(type, response.body) ? { text: decode(response.body, charset), type } : undefined
}

/** Returns a response's text in UTF-8, or undefined if the response is not text. */
export const utf8Of = ({ body, headers }: Pick<OutboundResponse, 'body' | 'headers'>): Buffer | undefined => {
  const { type, charset } = parseMediaType(headerOf({ headers }, 'content-type'))
  if (!isText(type, body)) return undefined
  return isUnicode(charset) && isUtf8(body) ? body : Buffer.from(decode(body, charset))
}

/** Returns a long text as a result. Passes on its bytes unless it contains secrets or is not UTF-8. */
const longTextResult = async (
  body: Buffer,
  charset: string | undefined,
  masker: Masker,
  signal: StopSignal | undefined,
): Promise<ToolResult> => {
  if (isUnicode(charset) && isUtf8(body)) return { utf8: await masker.long.utf8(body, signal) }
  return { utf8: Buffer.from(await masker.long.text(decode(body, charset), signal)) }
}

/** Converts a response for a tool without an output schema, or one whose body is not JSON. */
const plainResult = async (
  response: OutboundResponse,
  masker: Masker,
  signal: StopSignal | undefined,
): Promise<BlocksResult> => {
  const { body, url } = response
  if (body.length === 0) {
    return { content: [{ type: 'text', text: `${statusLine(response, masker)}, with an empty body` }] }
  }
  const contentType = headerOf(response, 'content-type')
  const uri = masker.text(url)
  const isMultipart = parseMediaType(contentType).type?.startsWith('multipart/') === true
  const several = isMultipart ? await multipartResult(response, uri, masker, signal) : undefined
  return several ?? { content: [await toBlock(body, contentType, uri, masker, signal)] }
}

/** Converts an API response to a result. Rejects with a MaskingError if secrets could not be masked. */
export const shapeResponse = async (
  response: OutboundResponse,
  masker: Masker,
  outputTrim: SchemaTrim | undefined,
  signal: StopSignal | undefined,
): Promise<ShapedResult> => {
  const { body } = response
  if (!isSuccess(response)) {
    const read = decodeText(response)
    return { result: errorResponseResult(response, masker, read && masker.beginning(read.text)) }
  }
  const { type, charset } = parseMediaType(headerOf(response, 'content-type'))
  if (outputTrim !== undefined) {
    // Masks the text here and the parsed JSON in structuredResult, because only parsing reveals a secret that is
    // escaped in the text.
    const received = decode(body, charset)
    const text = await masker.long.text(received, signal)
    const structured = await structuredResult(text, outputTrim, masker, signal, received)
    return structured ?? withoutStructure(await plainResult(response, masker, signal), NOT_JSON)
  }
  const isLong = body.length >= LONG_TEXT_BYTES && isText(type, body)
  return {
    result: isLong ? await longTextResult(body, charset, masker, signal) : await plainResult(response, masker, signal),
  }
}
