import { parseMediaType } from '../../lib/json/decode-text.ts'
import { formatNumber } from '../../lib/kernel/format.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { blocksOf, isLongText, isPassed, type PassedResult, type ToolResult } from '../../runtime/call/tool-result.ts'

/**
 * Media type of plain text. It declares the charset, because text that contains a NUL would otherwise count as binary.
 */
export const UTF8_TEXT = 'text/plain; charset=utf-8'

/** Media types that name a text format. */
const TELLING_TYPE =
  /^(?:application|text|image)\/(?:[\w.-]+\+)?(?:x-)?(?:json|ndjson|jsonl|jsonlines|json-lines|xml|html|csv|tab-separated-values)$/

/** Returns the media type of a text that has been decoded to UTF-8: the API's Content-Type if it names a format. */
export const toTextType = (contentType = ''): string => {
  const { essence } = parseMediaType(contentType)
  return TELLING_TYPE.test(essence) ? `${essence}; charset=utf-8` : UTF8_TEXT
}

/** Maximum UTF-8 bytes of one UTF-16 code unit. */
const MAX_BYTES_PER_CHARACTER = 3

const textOf = (block: unknown): string | undefined => {
  if (!isJsonObject(block)) return undefined
  if (block.type === 'text' && typeof block.text === 'string') return block.text
  const { resource } = block
  return block.type === 'resource' && isJsonObject(resource) && typeof resource.text === 'string'
    ? resource.text
    : undefined
}

/** Returns the joined text of all blocks, or undefined if none has text. Every call runs this, so it builds no list. */
const joinTexts = (blocks: readonly unknown[]): string | undefined => {
  let joined: string | undefined
  for (const block of blocks) {
    const text = textOf(block)
    if (text !== undefined) joined = joined === undefined ? text : `${joined}\n\n${text}`
  }
  return joined
}

const isShort = (text: string, maxBytes: number): boolean =>
  text.length * MAX_BYTES_PER_CHARACTER <= maxBytes || Buffer.byteLength(text) <= maxBytes

const tellBytes = (base64: string): string =>
  `${formatNumber(Buffer.byteLength(base64, 'base64'))} bytes of binary content, which are not shown or searched`

/** Describes blocks such as images as JSON, with sizes instead of the binary content. */
const describeBlocks = (blocks: readonly JsonValue[]): string =>
  JSON.stringify(blocks, (key, value: unknown) =>
    (key === 'data' || key === 'blob') && typeof value === 'string' ? tellBytes(value) : value,
  )

/** Returns the structured content if it is longer than the text. Most upstreams repeat it in the text. */
const structuredBeyond = (structured: unknown, textCharacters: number): string | undefined => {
  if (structured === undefined) return undefined
  const json = JSON.stringify(structured)
  return json.length > textCharacters ? json : undefined
}

/**
 * Returns whether the text that a model reads has at most `maxBytes` bytes. A token has at least one byte, so the
 * tokens need not be counted if the text has no more bytes than the budget has tokens.
 */
export const isWithinBytes = (result: ToolResult | PassedResult, maxBytes: number): boolean => {
  if (isLongText(result)) return result.utf8.length <= maxBytes
  const { structuredContent } = isPassed(result) ? result.passed : result
  const text = joinTexts(blocksOf(result)) ?? ''
  if (!isShort(text, maxBytes)) return false
  const structured = structuredBeyond(structuredContent, text.length)
  return structured === undefined || isShort(structured, maxBytes)
}

/** Returns the text of each block that has text. */
export const listTexts = (blocks: readonly unknown[]): string[] => blocks.flatMap(block => textOf(block) ?? [])

/** Maximum length of text that counts as a remark on the structured content, not as a copy of it. */
const MAX_REMARK_CHARACTERS = 1_000

/**
 * Splits a result into the text that a model reads, `others` (the content blocks that are not text, such as images) and
 * `rest` (all members except content and structured content).
 */
export const takeApart = (
  result: ToolResult | PassedResult,
): { utf8: Buffer; others: JsonValue[]; rest: JsonObject } => {
  if (isLongText(result)) return { utf8: result.utf8, others: [], rest: {} }
  const whole: JsonObject = isPassed(result) ? result.passed : { ...result, content: [...result.content] }
  const { content, structuredContent, ...rest } = whole
  const blocks = Array.isArray(content) ? content : []
  const text = joinTexts(blocks) ?? (blocks.length === 0 ? '' : describeBlocks(blocks))
  const structured = structuredBeyond(structuredContent, text.length)
  const isRemark = structured !== undefined && text.length <= MAX_REMARK_CHARACTERS
  return {
    utf8: Buffer.from(structured ?? text),
    others: isRemark ? blocks : blocks.filter(block => textOf(block) === undefined),
    rest,
  }
}

/** Returns the strings that a model reads, or an empty list if the result has only images. */
export const readTexts = (result: ToolResult | PassedResult): string[] => {
  if (isLongText(result)) return [result.utf8.toString('utf8'), ...(result.after === undefined ? [] : [result.after])]
  const { structuredContent } = isPassed(result) ? result.passed : result
  const texts = listTexts(blocksOf(result))
  const characters = texts.reduce((sum, { length }) => sum + length, 0)
  const structured = structuredBeyond(structuredContent, characters)
  if (structured === undefined) return texts
  return characters <= MAX_REMARK_CHARACTERS ? [structured, ...texts] : [structured]
}
