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

/**
 * Whether the text of a result has no more bytes than that. A token has one byte at least, so a result with fewer bytes
 * than a budget has tokens is within it, and nobody need count.
 */
export const isWithinBytes = (result: ToolResult | PassedResult, maxBytes: number): boolean => {
  if (isLongText(result)) return result.utf8.length <= maxBytes
  const { content, structuredContent } = isPassed(result) ? result.passed : result
  if (!Array.isArray(content)) return true
  let left = maxBytes
  for (const block of content) {
    const text = textOf(block)
    if (text === undefined) continue
    if (!isShort(text, left)) return false
    left -= text.length
  }
  // What is structured stands in the text as well, but for a few upstreams.
  return structuredContent === undefined || left < maxBytes || isShort(JSON.stringify(structuredContent), maxBytes)
}

export const takeApart = (result: ToolResult | PassedResult): AnswerParts => {
  if (isLongText(result)) return { utf8: result.utf8, others: [], rest: {} }
  const whole: JsonObject = isPassed(result) ? result.passed : { ...result, content: [...result.content] }
  const { content, structuredContent, ...rest } = whole
  const blocks = Array.isArray(content) ? content : []
  const texts = blocks.flatMap(block => textOf(block) ?? [])
  if (texts.length === 0 && structuredContent !== undefined) texts.push(JSON.stringify(structuredContent))
  return {
    utf8: Buffer.from(texts.join('\n\n')),
    others: blocks.filter(block => textOf(block) === undefined),
    rest,
  }
}
