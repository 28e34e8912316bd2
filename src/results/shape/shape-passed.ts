import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import { type BlocksResult, errorResult, type PassedResult } from '../../runtime/call/tool-result.ts'
import { hasShaping } from '../../tools/response/result-shaping.ts'
import type { SchemaTrim } from '../../tools/schemas/schema-check.ts'
import type { Masker } from '../mask/masking.ts'
import { type PlannedShaping, shapeTexts } from './shape-by-rules.ts'
import { NOT_JSON, type ShapedResult, structuredResult, withoutStructure } from './structured-result.ts'

type TextBlock = JsonObject & { text: string }

const isText = (block: JsonValue): block is TextBlock =>
  isJsonObject(block) && block.type === 'text' && typeof block.text === 'string'

/** An upstream does not declare whether its text is HTML. */
const UNSAID = undefined

type ShapedPassed = ShapedResult<BlocksResult | PassedResult>

type Shaping = {
  masker: Masker
  outputTrim: SchemaTrim | undefined
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
  { masker, outputTrim, planned, signal }: Shaping,
): Promise<ShapedPassed | undefined> => {
  if (!hasShaping(planned.rules)) return undefined
  const texts = blocks.flatMap(block => (isText(block) ? [block.text] : []))
  const source = structuredContent === undefined ? texts.join('\n\n') : JSON.stringify(structuredContent)
  const shaped = await shapeTexts(planned, [source], { isHtml: UNSAID, isStructured: outputTrim !== undefined })
  if ('failed' in shaped) return { result: errorResult(masker.text(shaped.failed)) }
  const [utf8] = shaped.utf8s ?? []
  if (utf8 === undefined) return undefined
  const text = await masker.long.text(utf8.toString('utf8'), signal)
  const others = blocks.filter(block => !isText(block))
  const plain: BlocksResult = { content: [{ type: 'text', text }] }
  if (outputTrim === undefined) return { result: { passed: { ...rest, content: [{ type: 'text', text }, ...others] } } }
  const made = (await structuredResult(text, outputTrim, masker, signal)) ?? withoutStructure(plain, NOT_JSON)
  const { content: blocksMade, structuredContent: left = {} } = made.result
  const written = blocksMade.map((block): JsonValue => ({ ...block }))
  return { ...made, result: { passed: { ...rest, content: [...written, ...others], structuredContent: left } } }
}

const shapeBlocks = async (
  passed: JsonObject,
  blocks: readonly JsonValue[],
  { masker, planned, signal }: Shaping,
): Promise<ShapedPassed | undefined> => {
  const texts = blocks.filter(isText)
  const kind = { isHtml: UNSAID, isStructured: false }
  const shaped = await shapeTexts(
    planned,
    texts.map(({ text }) => text),
    kind,
  )
  if ('failed' in shaped) return { result: errorResult(masker.text(shaped.failed)) }
  const { utf8s } = shaped
  if (utf8s === undefined) return undefined
  const made = new Map<TextBlock, string>()
  for (const [index, block] of texts.entries()) {
    made.set(block, await masker.long.text(utf8s[index]?.toString('utf8') ?? '', signal))
  }
  const content = blocks.map(block => (isText(block) ? { ...block, text: made.get(block) ?? block.text } : block))
  return { result: { passed: { ...passed, content } } }
}

/**
 * Shapes an upstream's result by the rules, like an API response. Secrets must already be masked and are masked again
 * afterwards. Returns undefined if the result is unchanged. Errors and requests for input are never changed.
 */
export const shapePassed = async (passed: JsonObject, shaping: Shaping): Promise<ShapedPassed | undefined> => {
  if (passed.isError === true || passed.resultType === 'input_required') return undefined
  const blocks = Array.isArray(passed.content) ? passed.content : []
  return passed.structuredContent === undefined && shaping.outputTrim === undefined
    ? shapeBlocks(passed, blocks, shaping)
    : shapeStructured(passed, blocks, shaping)
}
