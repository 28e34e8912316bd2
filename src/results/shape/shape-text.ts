import { endOfCharacter } from '../../lib/json/cut-text.ts'
import { findExactNumber, parseExactly } from '../../lib/json/exact-numbers.ts'
import { heapOfJson, heapOfTable, shareOfHeap } from '../../lib/json/heap-cost.ts'
import { parseDocument } from '../../lib/json/parse-document.ts'
import { describePathFault, hasMembers, type Path } from '../../lib/json/path.ts'
import { excludePaths } from '../../lib/json/project.ts'
import { renderDocument } from '../../lib/json/render-document.ts'
import { formatNumber } from '../../lib/kernel/format.ts'
import { type JsonValue, measureJson } from '../../lib/kernel/json.ts'
import { countTokens } from '../../lib/tokens/tokens.ts'
import { parseFieldPath } from '../../tools/response/field-path.ts'
import {
  hasShaping,
  LANGUAGE_NAMES,
  type ResultShaping,
  type TransformLanguage,
} from '../../tools/response/result-shaping.ts'
import { compactTables } from './compact-table.ts'
import { createExpressionSandbox } from './expression-sandbox.ts'
import { stringToMarkdown, toMarkdown } from './html-to-markdown.ts'
import type { ShapingJob, ShapingOutcome } from './shaping-job.ts'

/** Maximum length of a text whose tokens are counted. Counting a longer text would take seconds. */
const MAX_COUNTED_CHARACTERS = 1_000_000
/** Maximum length of a library's error message, which may quote the response. */
const MAX_MESSAGE_CHARACTERS = 300

/** Maximum memory for a parsed result. A transform parses the result a second time. */
const MAX_PARSED_BYTES = shareOfHeap(0.75, 200_000_000)

const sandbox = createExpressionSandbox()

/** An error that ends a job. Its message is shown to the model. */
class ShapingFault extends Error {}

const transformText = (language: TransformLanguage): string =>
  `The transform of this tool (${LANGUAGE_NAMES[language]})`

const positionText = (expression: string, offset: number | undefined): string => {
  if (offset === undefined) return ''
  const before = expression.slice(0, offset).split('\n')
  return ` (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`
}

const evaluate = async ({ language, expression }: NonNullable<ResultShaping['transform']>, input: string) => {
  const evaluation = await sandbox.evaluate(language, expression, input)
  if ('json' in evaluation) return evaluation.json
  const { message, offset } = evaluation.failed
  const said = message.replaceAll(/\s+/g, ' ').slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed()
  throw new ShapingFault(`${transformText(language)} failed${positionText(expression, offset)}: ${said}`)
}

/** Throws if parsing would need too much memory. If memory ran out inside JSON.parse, the whole process would end. */
const assertFits = (text: string): void => {
  const { containers } = measureJson(text)
  if (heapOfJson(text.length, containers) <= MAX_PARSED_BYTES) return
  const much = `${formatNumber(containers)} objects and lists`
  throw new ShapingFault(`The result is too large to be shaped: it contains ${much}. Ask for less.`)
}

const parse = (text: string): { value: JsonValue } | undefined => {
  assertFits(text)
  try {
    return { value: parseExactly(text).value }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Returns the beginning of a string and says how much is missing. Returns the whole string if that is not longer. */
export const cutString = (text: string, maxLength: number): string => {
  if (text.length <= maxLength) return text
  const length = endOfCharacter(text, maxLength)
  const cut = `${text.slice(0, length)}… (${formatNumber(text.length - length)} more characters)`
  return cut.length < text.length ? cut : text
}

/** Returns the value with a function applied to every leaf. Member names do not change. */
const mapLeaves = (value: JsonValue, change: (leaf: JsonValue) => JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(item => mapLeaves(item, change))
  if (!hasMembers(value)) return change(value)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapLeaves(member, change)]))
}

const mapStrings = (value: JsonValue, change: (text: string) => string): JsonValue =>
  mapLeaves(value, leaf => (typeof leaf === 'string' ? change(leaf) : leaf))

/** Throws if the path is invalid. Ignoring it could expose a field that is meant to stay private. */
const readFieldPath = (text: string): Path => {
  const path = parseFieldPath(text)
  if (path.ok) return path.value
  throw new ShapingFault(`The field to drop ${describePathFault(text, path.error)}`)
}

/** Applies the rules that come before the transform. */
const prepare = (value: JsonValue, { htmlToMarkdown, dropFields = [] }: ResultShaping): JsonValue => {
  const converted = htmlToMarkdown === true ? mapStrings(value, stringToMarkdown) : value
  const paths = dropFields.map(readFieldPath)
  return paths.length === 0 ? converted : (excludePaths(converted, paths, true) ?? converted)
}

/**
 * Replaces numbers that a double cannot represent, such as long IDs, with strings, because transforms compute only with
 * doubles.
 */
const withoutExactNumbers = (value: JsonValue): JsonValue => mapLeaves(value, leaf => findExactNumber(leaf) ?? leaf)

const transformed = async (
  value: JsonValue,
  transform: NonNullable<ResultShaping['transform']>,
  { isStructured }: ShapingJob,
): Promise<JsonValue> => {
  const input = JSON.stringify(isStructured ? value : withoutExactNumbers(value))
  return JSON.parse(await evaluate(transform, input))
}

const shapeJson = async (text: string, value: JsonValue, job: ShapingJob): Promise<string> => {
  const { transform, maxStringLength } = job.shaping
  const prepared = prepare(value, job.shaping)
  const made = transform === undefined ? prepared : await transformed(prepared, transform, job)
  const cut = cutStrings(made, maxStringLength)
  const tables = job.compactTables ? compactTables(cut) : undefined
  if (hasShaping(job.shaping)) {
    // A string is sent as plain text, because quotes and escapes do not help a model.
    const isPlain = typeof cut === 'string' && transform !== undefined && !job.isStructured
    return isPlain ? cut : JSON.stringify(tables ?? cut)
  }
  const written = tables === undefined ? text : JSON.stringify(tables)
  return written.length < text.length ? written : text
}

const cutStrings = (value: JsonValue, maxLength: number | undefined): JsonValue =>
  maxLength === undefined ? value : mapStrings(value, one => cutString(one, maxLength))

/** Shapes JSON Lines and tables. Returns undefined for any other text. */
const shapeLines = (text: string, { isHtml, type, shaping }: ShapingJob): string | undefined => {
  if (isHtml === true || heapOfTable(text) > MAX_PARSED_BYTES) return undefined
  const { document } = parseDocument(text, type, MAX_PARSED_BYTES)
  if (document.kind !== 'json' || document.format === 'json') return undefined
  const value = cutStrings(prepare(document.value, shaping), shaping.maxStringLength)
  const shaped = renderDocument({ ...document, value })
  // Rendering may change the quotes in a table. If nothing else changed, the original is sent.
  return shaped === renderDocument(document) ? text : shaped
}

const toPlainText = (text: string, isHtml: boolean | undefined): string => {
  if (isHtml === undefined) return stringToMarkdown(text)
  return isHtml ? toMarkdown(text) : text
}

const shapeText = (text: string, job: ShapingJob): string => {
  const lines = hasShaping(job.shaping) ? shapeLines(text, job) : undefined
  if (lines !== undefined) return lines
  const { isHtml, shaping } = job
  const { htmlToMarkdown, maxStringLength } = shaping
  const converted = htmlToMarkdown === true ? toPlainText(text, isHtml) : text
  return maxStringLength === undefined ? converted : cutString(converted, maxStringLength)
}

const shapeEach = async (job: ShapingJob): Promise<string[]> => {
  const { transform } = job.shaping
  const made: string[] = []
  let hasJson = false
  for (const text of job.texts) {
    const parsed = job.isHtml === true ? undefined : parse(text)
    hasJson ||= parsed !== undefined
    made.push(parsed === undefined ? shapeText(text, job) : await shapeJson(text, parsed.value, job))
  }
  if (transform === undefined || hasJson) return made
  throw new ShapingFault(`${transformText(transform.language)} needs JSON, but the result is not JSON.`)
}

const lengthOf = (texts: readonly { length: number }[]): number => texts.reduce((sum, { length }) => sum + length, 0)

const count = async (texts: readonly string[], { isCounted }: ShapingJob): Promise<number | undefined> => {
  if (!isCounted || lengthOf(texts) > MAX_COUNTED_CHARACTERS) return undefined
  let tokens = 0
  for (const text of texts) tokens += await countTokens(text)
  return tokens
}

const shape = async (job: ShapingJob): Promise<ShapingOutcome> => {
  const shaped = await shapeEach(job)
  const before = await count(job.texts, job)
  if (shaped.every((text, index) => text === job.texts[index])) {
    return { kind: 'unchanged', tokens: { before, after: before } }
  }
  const utf8s = shaped.map(text => new TextEncoder().encode(text))
  if (lengthOf(utf8s) > job.maxBytes) {
    throw new ShapingFault(`The shaped result is larger than ${job.maxBytes} bytes.`)
  }
  return { kind: 'shaped', utf8s, tokens: { before, after: await count(shaped, job) } }
}

/** Runs a shaping job in the current thread. The caller must enforce time and memory limits. Never rejects. */
export const runShapingJob = async (job: ShapingJob): Promise<ShapingOutcome> => {
  try {
    return await shape(job)
  } catch (error) {
    if (error instanceof ShapingFault) return { kind: 'failed', message: error.message }
    const isTooDeep = error instanceof RangeError
    const why = isTooDeep ? 'it is nested too deeply, or too long' : 'it could not be read'
    return { kind: 'failed', message: `The result cannot be shaped: ${why}.` }
  }
}
