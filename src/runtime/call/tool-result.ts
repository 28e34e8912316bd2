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
 * A result of one text block, as the original UTF-8: decoding and encoding a long text again would be expensive. With
 * `structuredAs`, the text is JSON and also the structured content under that name.
 */
export type LongText = { utf8: Buffer; structuredAs?: string }

export type ToolResult = BlocksResult | LongText

/** The result of an upstream, unchanged. */
export type PassedResult = {
  passed: JsonObject
  /** The same as JSON, if already serialized. */
  json?: string
}

export const isLongText = (result: ToolResult | PassedResult): result is LongText => 'utf8' in result
export const isPassed = (result: ToolResult | PassedResult): result is PassedResult => 'passed' in result

/** An error of an upstream whose code clients understand, passed on as a JSON-RPC error. */
export type RefusedResult = { refused: { code: number; message: string; data?: JsonObject } }
export type UpstreamResult = PassedResult | RefusedResult

export const isRefused = (result: object): result is RefusedResult => 'refused' in result

/** Whether a result is an error, of the tool or of an upstream. */
export const isErrorResult = (result: ToolResult | UpstreamResult): boolean =>
  isRefused(result) ||
  (isPassed(result) ? result.passed.isError === true : !isLongText(result) && result.isError === true)

/** Returns the content blocks of a result, unchecked if it is an upstream's; none of a long text. */
export const blocksOf = (result: ToolResult | PassedResult): readonly unknown[] => {
  if (isLongText(result)) return []
  const { content } = isPassed(result) ? result.passed : result
  return Array.isArray(content) ? content : []
}

/** Returns the first text of an error; undefined if the result is none. */
export const findErrorText = (result: ToolResult | UpstreamResult): string | undefined => {
  if (isRefused(result)) return result.refused.message
  if (!isErrorResult(result)) return undefined
  const [first] = blocksOf(result)
  return isJsonObject(first) && typeof first.text === 'string' ? first.text : ''
}

export const errorResult = (text: string): BlocksResult => ({ content: [{ type: 'text', text }], isError: true })

/** Maximum length of an error about arguments. */
const MAX_ERROR_CHARACTERS = 4_000

/** Truncates an error about arguments to what a model reads. */
export const boundError = (text: string): string =>
  (text.length > MAX_ERROR_CHARACTERS ? `${text.slice(0, MAX_ERROR_CHARACTERS)}…` : text).toWellFormed()

/** The error that callers see for a fault of ours. */
export const INTERNAL_FAULT = 'Patchbay failed to run this call. The reason is in the server log.'
