import { formatNumber } from '../../lib/http/pages/format.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { isLongText, isPassed, type PassedResult, type ToolResult } from '../../runtime/call/compiled-server.ts'

/** A result taken apart: what a model reads as text, and all else. */
export type AnswerParts = {
  utf8: Buffer
  /** Content blocks that are no text, such as images, as they were. */
  others: JsonValue[]
  /** The members beside content and structured content. */
  rest: JsonObject
}

/** What the text is, whatever its first bytes look like: no NUL in it makes it binary. */
export const UTF8_TEXT = 'text/plain; charset=utf-8'

/** Types that say more of a text than that it is one. */
const TELLING_TYPE =
  /^(?:application|text|image)\/(?:[\w.-]+\+)?(?:x-)?(?:json|ndjson|jsonl|jsonlines|json-lines|xml|html|csv|tab-separated-values)$/

/** What a text is by the Content-Type that its API has said, where that says something; it is UTF-8 by now. */
export const toTextType = (contentType = ''): string => {
  const [essence = ''] = contentType.toLowerCase().split(';', 1)
  return TELLING_TYPE.test(essence.trim()) ? `${essence.trim()}; charset=utf-8` : UTF8_TEXT
}

/** No character of UTF-16 takes more bytes as UTF-8. */
const MAX_BYTES_PER_CHARACTER = 3

const textOf = (block: unknown): string | undefined => {
  if (!isJsonObject(block)) return undefined
  if (block.type === 'text' && typeof block.text === 'string') return block.text
  const { resource } = block
  return block.type === 'resource' && isJsonObject(resource) && typeof resource.text === 'string'
    ? resource.text
    : undefined
}

/** All text of some blocks; undefined where none of them is text. Without a list in between: every call comes by here. */
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

/** Images and the like as JSON, with their sizes in place of their bytes. */
const describeBlocks = (blocks: readonly JsonValue[]): string =>
  JSON.stringify(blocks, (key, value: unknown) =>
    (key === 'data' || key === 'blob') && typeof value === 'string' ? tellBytes(value) : value,
  )

/** What is structured, where it says more than the text does: most upstreams write it there as well. */
const structuredBeyond = (structured: unknown, textCharacters: number): string | undefined => {
  if (structured === undefined) return undefined
  const json = JSON.stringify(structured)
  return json.length > textCharacters ? json : undefined
}

/**
 * Whether what a model reads of a result has no more bytes than that. A token has one byte at least, so a result with
 * fewer bytes than a budget has tokens is within it, and nobody need count.
 */
export const isWithinBytes = (result: ToolResult | PassedResult, maxBytes: number): boolean => {
  if (isLongText(result)) return result.utf8.length <= maxBytes
  const { content, structuredContent } = isPassed(result) ? result.passed : result
  const text = joinTexts(Array.isArray(content) ? content : []) ?? ''
  if (!isShort(text, maxBytes)) return false
  const structured = structuredBeyond(structuredContent, text.length)
  return structured === undefined || isShort(structured, maxBytes)
}

/** The texts of some blocks. */
export const listTexts = (blocks: readonly unknown[]): string[] => blocks.flatMap(block => textOf(block) ?? [])

/** A text beside something structured that says more: a remark, or a summary. */
const MAX_REMARK_CHARACTERS = 1_000

export const takeApart = (result: ToolResult | PassedResult): AnswerParts => {
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

/** What a model reads of a result, in parts; nothing of one that is all images. */
export const readTexts = (result: ToolResult | PassedResult): string[] => {
  if (isLongText(result)) return [result.utf8.toString('utf8')]
  const { content, structuredContent } = isPassed(result) ? result.passed : result
  const texts = listTexts(Array.isArray(content) ? content : [])
  const characters = texts.reduce((sum, { length }) => sum + length, 0)
  const structured = structuredBeyond(structuredContent, characters)
  if (structured === undefined) return texts
  return characters <= MAX_REMARK_CHARACTERS ? [structured, ...texts] : [structured]
}
