import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'

/** Content blocks of a tool result (specification, server/tools#tool-result). */
export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
  | { type: 'audio'; data: string; mimeType: string }
  | { type: 'resource'; resource: { uri: string; mimeType: string; blob: string } }

export type BlocksResult = {
  content: ContentBlock[]
  structuredContent?: JsonValue
  isError?: boolean
}

/**
 * A result with a single text block, stored as the original UTF-8, because decoding and re-encoding a long text is
 * expensive. If `structuredAs` is set, the text is JSON and is also the structured content, under this key. `after` is
 * the text of a second block.
 */
export type LongText = { utf8: Buffer; structuredAs?: string; after?: string }

export type ToolResult = BlocksResult | LongText

/** An upstream's result, as received. */
export type PassedResult = {
  passed: JsonObject
  /** The result as JSON, if it has already been serialized. */
  json?: string
}

export const isLongText = (result: ToolResult | PassedResult): result is LongText => 'utf8' in result
export const isPassed = (result: ToolResult | PassedResult): result is PassedResult => 'passed' in result

/** An upstream error whose code clients understand. Sent as a JSON-RPC error. */
export type RefusedResult = { refused: { code: number; message: string; data?: JsonObject } }
export type UpstreamResult = PassedResult | RefusedResult

export const isRefused = (result: object): result is RefusedResult => 'refused' in result

/** Returns whether a result is an error, either from the tool or from an upstream. */
export const isErrorResult = (result: ToolResult | UpstreamResult): boolean =>
  isRefused(result) ||
  (isPassed(result) ? result.passed.isError === true : !isLongText(result) && result.isError === true)

/** Returns the content blocks of a result, or none if it is a long text. An upstream's blocks are not validated. */
export const blocksOf = (result: ToolResult | PassedResult): readonly unknown[] => {
  if (isLongText(result)) return []
  const { content } = isPassed(result) ? result.passed : result
  return Array.isArray(content) ? content : []
}

/** Returns the first text of an error, or undefined if the result is not an error. */
export const findErrorText = (result: ToolResult | UpstreamResult): string | undefined => {
  if (isRefused(result)) return result.refused.message
  if (!isErrorResult(result)) return undefined
  const [first] = blocksOf(result)
  return isJsonObject(first) && typeof first.text === 'string' ? first.text : ''
}

/** Ends a result with a text block of its own, and leaves its structured content as it is. */
export function endWith(result: ToolResult, text: string): ToolResult
export function endWith(result: ToolResult | UpstreamResult, text: string): ToolResult | UpstreamResult
export function endWith(result: ToolResult | UpstreamResult, text: string): ToolResult | UpstreamResult {
  if (isRefused(result)) return result
  if (isPassed(result)) {
    const content = Array.isArray(result.passed.content) ? result.passed.content : []
    return { passed: { ...result.passed, content: [...content, { type: 'text', text }] } }
  }
  if (isLongText(result)) return { ...result, after: text }
  return { ...result, content: [...result.content, { type: 'text', text }] }
}

export const errorResult = (text: string): BlocksResult => ({ content: [{ type: 'text', text }], isError: true })

/** Maximum length of an error message about arguments. */
const MAX_ERROR_CHARACTERS = 4_000

/** Truncates an error message about arguments, because a model reads it. */
export const truncateError = (text: string): string =>
  (text.length > MAX_ERROR_CHARACTERS ? `${text.slice(0, MAX_ERROR_CHARACTERS)}…` : text).toWellFormed()

/** The error message that callers see after an unexpected exception. */
export const INTERNAL_FAULT = 'Patchbay failed to run this call. The reason is in the server log.'
