import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import { isSuccess, type OutboundResponse } from '../../lib/outbound/outbound-request.ts'
import type { Tenant } from '../../lib/worker/fair-queue.ts'
import { type BlocksResult, errorResult } from '../../runtime/call/tool-result.ts'
import { hasShaping, LANGUAGE_NAMES, type ResultShaping } from '../../tools/response/result-shaping.ts'
import type { SchemaChecks, SchemaTrim } from '../../tools/schemas/schema-check.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import type { Masker } from '../mask/masking.ts'
import type { ResponseSample } from './response-samples.ts'
import type { ResultShaper } from './result-shaper.ts'
import { decodeText, LONG_TEXT_BYTES, shapeResponse } from './shape.ts'
import type { ShapingJob } from './shaping-job.ts'
import { NOT_JSON, type ShapedResult, structuredResult, withoutStructure } from './structured-result.ts'

/**
 * The services that shape and check results, the tenant that owns the results, and the server's setting for tables.
 * `group` is the organization.
 */
export type ShapingContext = Tenant & {
  shaper: Pick<ResultShaper, 'shape'>
  schemaChecks: SchemaChecks
  compactTables: boolean
}

/** How to shape a tool's results. Created once, before any calls. */
export type PlannedShaping = {
  rules: ResultShaping
  compactTables: boolean
  maxBytes: number
  shapingContext: Pick<ShapingContext, 'shaper' | 'owner' | 'group'>
}

/** Minimum result size for a table. Smaller results would save too few tokens. */
const MIN_TABLE_BYTES = 1_024
const NO_RULES: ResultShaping = {}

type ShapedTool = Pick<ToolDefinition, 'response' | 'outputSchema'>

/** Returns whether a tool's results may be shaped. The results of a tool with an output schema never become tables. */
export const isShaped = ({ response, outputSchema }: ShapedTool, compactTables: boolean): boolean =>
  hasShaping(response) || (compactTables && outputSchema === undefined)

/** Plans how to shape results. Returns undefined if results are sent unchanged. */
export const planShaping = (
  tool: ShapedTool,
  shapingContext: ShapingContext,
  maxBytes: number,
): PlannedShaping | undefined => {
  if (!isShaped(tool, shapingContext.compactTables)) return undefined
  const compactTables = shapingContext.compactTables && tool.outputSchema === undefined
  return { rules: tool.response ?? NO_RULES, compactTables, maxBytes, shapingContext }
}

const HTML_TYPES: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml'])

/** Returns whether the media type is HTML, or undefined if there is no media type. */
const isHtml = (type: string | undefined): boolean | undefined =>
  type === undefined ? undefined : HTML_TYPES.has(type)

const needsJson = ({ language }: NonNullable<ResultShaping['transform']>): string =>
  `The transform of this tool (${LANGUAGE_NAMES[language]}) needs JSON, but the API returned something else.`

const toResult = async (
  utf8: Buffer,
  masker: Masker,
  outputTrim: SchemaTrim | undefined,
  signal: StopSignal | undefined,
): Promise<ShapedResult> => {
  if (outputTrim === undefined && utf8.length >= LONG_TEXT_BYTES) {
    return { result: { utf8: await masker.long.utf8(utf8, signal) } }
  }
  const text = await masker.long.text(utf8.toString('utf8'), signal)
  const plain: BlocksResult = { content: [{ type: 'text', text }] }
  if (outputTrim === undefined) return { result: plain }
  return (await structuredResult(text, outputTrim, masker, signal)) ?? withoutStructure(plain, NOT_JSON)
}

const isWorthIt = (rules: ResultShaping, bytes: number): boolean => hasShaping(rules) || bytes >= MIN_TABLE_BYTES

const toBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/** The shaped texts (undefined if unchanged), or a sentence that explains why shaping failed. */
type ShapedTexts = { utf8s: readonly Buffer[] | undefined } | { failed: string }

/** Shapes texts in a worker. Secrets must already be masked, because a transform could change their encoding. */
export const shapeTexts = async (
  { rules, compactTables, maxBytes, shapingContext }: PlannedShaping,
  texts: readonly string[],
  kind: Pick<ShapingJob, 'isHtml' | 'type' | 'isStructured'>,
): Promise<ShapedTexts> => {
  const bytes = texts.reduce((sum, text) => sum + text.length, 0)
  if (bytes === 0 || !isWorthIt(rules, bytes)) return { utf8s: undefined }
  const job = { texts, ...kind, shaping: rules, compactTables, maxBytes, isCounted: false }
  const outcome = await shapingContext.shaper.shape(shapingContext, job)
  if (outcome.kind === 'shaped') return { utf8s: outcome.utf8s.map(toBuffer) }
  // Tables only save tokens. If creating them fails, the result is sent unchanged.
  if (outcome.kind === 'unchanged' || !hasShaping(rules)) return { utf8s: undefined }
  return { failed: outcome.message }
}

/**
 * Shapes an API response in a worker, following the rules. Masks secrets before and after, because a transform can join
 * the parts of a secret.
 */
export const shapeByRules = async (
  response: OutboundResponse,
  masker: Masker,
  outputTrim: SchemaTrim | undefined,
  planned: PlannedShaping,
  signal: StopSignal | undefined,
): Promise<ShapedResult> => {
  const asItIs = () => shapeResponse(response, masker, outputTrim, signal)
  const { rules } = planned
  const isShapeable = isSuccess(response) && response.body.length > 0
  if (!isShapeable || !isWorthIt(rules, response.body.length)) return asItIs()
  const read = decodeText(response)
  if (read === undefined)
    return rules.transform === undefined ? asItIs() : { result: errorResult(needsJson(rules.transform)) }
  const kind = { isHtml: isHtml(read.type), type: read.type, isStructured: outputTrim !== undefined }
  const outcome = await shapeTexts(planned, [await masker.long.text(read.text, signal)], kind)
  if ('failed' in outcome) return { result: errorResult(masker.text(outcome.failed)) }
  const [utf8] = outcome.utf8s ?? []
  return utf8 === undefined ? asItIs() : toResult(utf8, masker, outputTrim, signal)
}

/** A text with its size. `tokens` is undefined if the text is too long to count. */
export type CountedText = { text: string; bytes: number; tokens: number | undefined }

/** A sample after the rules were applied, or the reason why they could not be. */
export type ShapingPreview = { before: CountedText; after: CountedText | undefined; failure: string | undefined }

/** Shapes a sample while a builder edits the rules. `type` is the sample's media type, if known. */
export const previewShaping = async (
  { text, type }: Pick<ResponseSample, 'text' | 'type'>,
  { response, outputSchema }: ShapedTool,
  shapingContext: ShapingContext,
  maxBytes: number,
): Promise<ShapingPreview> => {
  const isStructured = outputSchema !== undefined
  const outcome = await shapingContext.shaper.shape(shapingContext, {
    texts: [text],
    isHtml: isHtml(type),
    type,
    shaping: response ?? NO_RULES,
    compactTables: shapingContext.compactTables && !isStructured,
    isStructured,
    maxBytes,
    isCounted: true,
  })
  const tokens = outcome.kind === 'failed' ? undefined : outcome.tokens
  const before: CountedText = { text, bytes: Buffer.byteLength(text), tokens: tokens?.before }
  if (outcome.kind === 'failed') return { before, after: undefined, failure: outcome.message }
  const [shaped] = outcome.kind === 'unchanged' ? [] : outcome.utf8s
  if (shaped === undefined) return { before, after: before, failure: undefined }
  const after = { text: toBuffer(shaped).toString('utf8'), bytes: shaped.length, tokens: tokens?.after }
  return { before, after, failure: undefined }
}
