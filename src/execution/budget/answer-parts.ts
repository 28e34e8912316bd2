import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import { isLongText, isPassed, type PassedResult, type ToolResult } from '../compiled-server.ts'

/** A result taken apart: what a model reads as text, and all else. */
export type AnswerParts = {
  utf8: Buffer
  /** Content blocks that are no text, such as images, as they were. */
  others: JsonValue[]
  /** The members beside content and structured content. */
  rest: JsonObject
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

const isShort = (text: string, maxBytes: number): boolean =>
  text.length * MAX_BYTES_PER_CHARACTER <= maxBytes || Buffer.byteLength(text) <= maxBytes

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
  let left = maxBytes
  for (const block of Array.isArray(content) ? content : []) {
    const text = textOf(block)
    if (text === undefined) continue
    if (!isShort(text, left)) return false
    left -= text.length
  }
  const structured = structuredBeyond(structuredContent, maxBytes - left)
  return structured === undefined || isShort(structured, left)
}

/** A text beside something structured that says more: a remark, or a summary. */
const MAX_REMARK_CHARACTERS = 1_000

export const takeApart = (result: ToolResult | PassedResult): AnswerParts => {
  if (isLongText(result)) return { utf8: result.utf8, others: [], rest: {} }
  const whole: JsonObject = isPassed(result) ? result.passed : { ...result, content: [...result.content] }
  const { content, structuredContent, ...rest } = whole
  const blocks = Array.isArray(content) ? content : []
  const text = blocks.flatMap(block => textOf(block) ?? []).join('\n\n')
  const structured = structuredBeyond(structuredContent, text.length)
  const isRemark = structured !== undefined && text.length <= MAX_REMARK_CHARACTERS
  return {
    utf8: Buffer.from(structured ?? text),
    others: isRemark ? blocks : blocks.filter(block => textOf(block) === undefined),
    rest,
  }
}
