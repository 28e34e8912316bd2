import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import { type BlocksResult, errorResult, type PassedResult } from '../../runtime/call/tool-result.ts'
import { hasShaping } from '../../tools/response/result-shaping.ts'
import type { SchemaCheck } from '../../tools/schemas/schema-check.ts'
import type { Masker } from '../mask/masking.ts'
import { structuredResult } from './shape.ts'
import { type PlannedShaping, shapeTexts } from './shape-by-rules.ts'

type TextBlock = JsonObject & { text: string }

const isText = (block: JsonValue): block is TextBlock =>
  isJsonObject(block) && block.type === 'text' && typeof block.text === 'string'

/** An upstream does not declare whether its text is HTML. */
const UNSAID = undefined

type Shaping = {
  masker: Masker
  outputCheck: SchemaCheck | undefined
  planned: PlannedShaping
  signal: StopSignal | undefined
}

/**
 * Shapes the structured content and rewrites the text to match. Without rules, leaves both unchanged, because programs
 * do not expect tables.
 */
const shapeStructured = async (
  { content, structuredContent, ...rest }: JsonObject,
  blocks: readonly JsonValue[],
  { masker, outputCheck, planned, signal }: Shaping,
): Promise<BlocksResult | PassedResult | undefined> => {
  if (!hasShaping(planned.rules)) return undefined
  const texts = blocks.flatMap(block => (isText(block) ? [block.text] : []))
  const source = structuredContent === undefined ? texts.join('\n\n') : JSON.stringify(structuredContent)
  const shaped = await shapeTexts(planned, [source], { isHtml: UNSAID, isStructured: outputCheck !== undefined })
  if ('failed' in shaped) return errorResult(masker.text(shaped.failed))
  const [utf8] = shaped.utf8s ?? []
  if (utf8 === undefined) return undefined
  const text = await masker.long.text(utf8.toString('utf8'), signal)
  const others = blocks.filter(block => !isText(block))
  if (outputCheck === undefined) return { passed: { ...rest, content: [{ type: 'text', text }, ...others] } }
  const checked = await structuredResult(text, outputCheck, masker, signal)
  if (checked.isError === true || checked.structuredContent === undefined) return checked
  const written = checked.content.map((block): JsonValue => ({ ...block }))
  return { passed: { ...rest, content: [...written, ...others], structuredContent: checked.structuredContent } }
}

const shapeBlocks = async (
  passed: JsonObject,
  blocks: readonly JsonValue[],
  { masker, planned, signal }: Shaping,
): Promise<BlocksResult | PassedResult | undefined> => {
  const texts = blocks.filter(isText)
  const kind = { isHtml: UNSAID, isStructured: false }
  const shaped = await shapeTexts(
    planned,
    texts.map(({ text }) => text),
    kind,
  )
  if ('failed' in shaped) return errorResult(masker.text(shaped.failed))
  const { utf8s } = shaped
  if (utf8s === undefined) return undefined
  const made = new Map<TextBlock, string>()
  for (const [index, block] of texts.entries()) {
    made.set(block, await masker.long.text(utf8s[index]?.toString('utf8') ?? '', signal))
  }
  const content = blocks.map(block => (isText(block) ? { ...block, text: made.get(block) ?? block.text } : block))
  return { passed: { ...passed, content } }
}

/**
 * Shapes an upstream's result by the rules, like an API response. Secrets must already be masked and are masked again
 * afterwards. Returns undefined if the result is unchanged. Errors and requests for input are never changed.
 */
export const shapePassed = async (
  passed: JsonObject,
  shaping: Shaping,
): Promise<BlocksResult | PassedResult | undefined> => {
  if (passed.isError === true || passed.resultType === 'input_required') return undefined
  const blocks = Array.isArray(passed.content) ? passed.content : []
  return passed.structuredContent === undefined && shaping.outputCheck === undefined
    ? shapeBlocks(passed, blocks, shaping)
    : shapeStructured(passed, blocks, shaping)
}
