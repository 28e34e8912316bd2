import { type AnswerShaper, type AnswerShaping, isShaping, LANGUAGE_NAMES } from '../context/index.ts'
import type { OutboundResponse } from '../platform/net/index.ts'
import type { SchemaCheck, ToolDefinition } from '../toolkits/index.ts'
import type { AnswerSample } from './answer-samples.ts'
import type { ToolResult } from './compiled-server.ts'
import { errorResult } from './faults.ts'
import type { Masker } from './masking.ts'
import { LONG_TEXT_BYTES, readText, shapeAnswer, structuredAnswer } from './shape.ts'

/** Where answers are shaped, for whom, and as which server sends them. */
export type ShapingPlace = { shaper: Pick<AnswerShaper, 'shape'>; owner: string; compactTables: boolean }

/** What is done with a tool's answers besides showing them, fixed before there are any. */
export type PlannedShaping = {
  rules: AnswerShaping
  compactTables: boolean
  maxBytes: number
  place: Pick<ShapingPlace, 'shaper' | 'owner'>
}

/** Smaller answers are not worth a table. */
const MIN_TABLE_BYTES = 1_024
const NO_RULES: AnswerShaping = {}

/** Undefined where answers are sent as they come. What has an output schema is never written as a table. */
export const planShaping = (
  { response, outputSchema }: Pick<ToolDefinition, 'response' | 'outputSchema'>,
  place: ShapingPlace,
  maxBytes: number,
): PlannedShaping | undefined => {
  const compactTables = place.compactTables && outputSchema === undefined
  if (isShaping(response)) return { rules: response, compactTables, maxBytes, place }
  return compactTables ? { rules: NO_RULES, compactTables, maxBytes, place } : undefined
}

const HTML_TYPES: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml'])

const isHtml = (type: string | undefined): boolean => HTML_TYPES.has(type ?? '')

const needsJson = ({ language }: NonNullable<AnswerShaping['transform']>): string =>
  `The transform of this tool (${LANGUAGE_NAMES[language]}) needs JSON, and the API answered none.`

const toResult = (utf8: Buffer, masker: Masker, outputCheck: SchemaCheck | undefined): ToolResult => {
  if (outputCheck === undefined && masker.isEmpty && utf8.length >= LONG_TEXT_BYTES) return { utf8 }
  const text = masker.text(utf8.toString('utf8'))
  if (outputCheck !== undefined) return structuredAnswer(text, outputCheck, masker)
  return { content: [{ type: 'text', text }] }
}

const isWorthIt = (rules: AnswerShaping, body: Buffer): boolean => isShaping(rules) || body.length >= MIN_TABLE_BYTES

const toBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/**
 * The answer as the rules make it, in a thread of the shaper's. Secrets are masked before, so that no transform can
 * write them in another way, and after, for what it puts together.
 */
export const shapeByRules = async (
  response: OutboundResponse,
  masker: Masker,
  outputCheck: SchemaCheck | undefined,
  { rules, compactTables, maxBytes, place: { shaper, owner } }: PlannedShaping,
): Promise<ToolResult> => {
  const asItIs = (): ToolResult => shapeAnswer(response, masker, outputCheck)
  const isAnswered = response.status >= 200 && response.status <= 299 && response.body.length > 0
  if (!isAnswered || !isWorthIt(rules, response.body)) return asItIs()
  const read = readText(response)
  if (read === undefined) return rules.transform === undefined ? asItIs() : errorResult(needsJson(rules.transform))
  const outcome = await shaper.shape(owner, {
    text: masker.text(read.text),
    isHtml: isHtml(read.type),
    shaping: rules,
    compactTables,
    isStructured: outputCheck !== undefined,
    maxBytes,
    isCounted: false,
  })
  if (outcome.kind === 'shaped') return toResult(toBuffer(outcome.utf8), masker, outputCheck)
  // Tables are only for brevity: without them the answer is as good.
  if (outcome.kind === 'unchanged' || !isShaping(rules)) return asItIs()
  return errorResult(masker.text(outcome.message))
}

/** A text with what it costs a model; undefined tokens: too long to be counted at once. */
export type CountedText = { text: string; bytes: number; tokens: number | undefined }

/** What would be made of an answer that came before, or why nothing. */
export type ShapingPreview = { before: CountedText; after: CountedText | undefined; failure: string | undefined }

/** The same for an answer that a builder looks at while writing the rules. */
export const previewShaping = async (
  { text, type }: Pick<AnswerSample, 'text' | 'type'>,
  { response, outputSchema }: Pick<ToolDefinition, 'response' | 'outputSchema'>,
  { shaper, owner, compactTables }: ShapingPlace,
  maxBytes: number,
): Promise<ShapingPreview> => {
  const isStructured = outputSchema !== undefined
  const outcome = await shaper.shape(owner, {
    text,
    isHtml: isHtml(type),
    shaping: response ?? NO_RULES,
    compactTables: compactTables && !isStructured,
    isStructured,
    maxBytes,
    isCounted: true,
  })
  const tokens = outcome.kind === 'failed' ? undefined : outcome.tokens
  const before: CountedText = { text, bytes: Buffer.byteLength(text), tokens: tokens?.before }
  if (outcome.kind === 'failed') return { before, after: undefined, failure: outcome.message }
  if (outcome.kind === 'unchanged') return { before, after: before, failure: undefined }
  const shaped = toBuffer(outcome.utf8)
  const after = { text: shaped.toString('utf8'), bytes: shaped.length, tokens: tokens?.after }
  return { before, after, failure: undefined }
}
