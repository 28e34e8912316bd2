import type { JsonValue } from '../kernel/json.ts'
import { decodeText, type MediaType, parseMediaType } from './decode-text.ts'
import { heapOfTable, MAX_HEAP_BYTES } from './heap-cost.ts'
import { parseJsonLines, parseJsonText } from './parse-json-text.ts'
import { looksLikeTable, parseTable } from './parse-table.ts'
import type { JsonDocument, ResultDocument, StepOutput, TextDocument } from './result-document.ts'

const JSON_TYPE = /^(?:application|text)\/(?:[\w.-]+\+)?json$/
const LINES_TYPE = /^(?:application|text)\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines)$/
const TABLE_TYPE = /^text\/(?:csv|tab-separated-values)$|^application\/csv$/
const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)$/
const XML_TYPE = /^(?:application|text)\/xml$|\+xml$/
/** Patterns at the beginning of a text that reveal its format. */
const HTML_START = /^\s*(?:<!--[^>]{0,500}-->\s*)?<(?:!doctype\s+html|html|head|body)\b/i
const XML_START = /^\s*<\?xml\b/
const JSON_START = /^\s*[[{]/
const SNIFFED_CHARACTERS = 1_000
const TOO_MANY_ROWS = 'Treated as text, not as a table: it has too many rows.'
const TOO_WIDE = 'Treated as text, not as a table: it has too many columns.'

const asText = (text: string, format: TextDocument['format'] = 'text', notes: readonly string[] = []): StepOutput => ({
  document: { kind: 'text', text, format },
  notes,
})

type Parsed = { value: JsonValue; notes: readonly string[] }

const asJson = ({ value, notes }: Parsed, format: JsonDocument['format']): StepOutput => ({
  document: { kind: 'json', value, format },
  notes,
})

const parseAsJson = (text: string, essence: string, maxHeapBytes: number): StepOutput => {
  const parsed = parseJsonText(text, maxHeapBytes)
  if (parsed.ok) return asJson(parsed.value, 'json')
  const mayBeLines = parsed.error.reason === 'syntax' && text.includes('\n')
  const lines = mayBeLines ? parseJsonLines(text, false, maxHeapBytes) : undefined
  if (lines !== undefined && lines.value.length > 1) return asJson(lines, 'ndjson')
  // Text that only looked like JSON needs no note.
  const isMeant = JSON_TYPE.test(essence) || parsed.error.reason !== 'syntax'
  return asText(text, 'text', isMeant ? [`Treated as text, not as JSON: ${parsed.error.message}.`] : [])
}

const parseText = (text: string, { essence }: MediaType, maxHeapBytes: number): StepOutput => {
  if (text.trim() === '') return asText('')
  const start = text.slice(0, SNIFFED_CHARACTERS)
  if (LINES_TYPE.test(essence)) {
    const lines = parseJsonLines(text, true, maxHeapBytes)
    if (lines !== undefined) return asJson(lines, 'ndjson')
  }
  const isMarkup = HTML_START.test(start) || XML_START.test(start)
  if (JSON_TYPE.test(essence) && !isMarkup) return parseAsJson(text, essence, maxHeapBytes)
  // Some frameworks declare every response to be HTML.
  const isSaidHtml = HTML_TYPE.test(essence) && !JSON_START.test(start)
  if (isSaidHtml || HTML_START.test(start)) return asText(text, 'html')
  if (XML_TYPE.test(essence) || isMarkup) return asText(text, 'xml')
  const isTable = TABLE_TYPE.test(essence)
  if (!isTable && JSON_START.test(start)) return parseAsJson(text, essence, maxHeapBytes)
  if (isTable || looksLikeTable(text)) {
    if (heapOfTable(text) > maxHeapBytes) return asText(text, 'text', [TOO_MANY_ROWS])
    const table = parseTable(text, essence === 'text/tab-separated-values' ? '\t' : undefined)
    return table === undefined ? asText(text, 'text', [TOO_WIDE]) : asJson(table, 'csv')
  }
  return asText(text)
}

const toBinary = (essence: string, bytes: number): ResultDocument => ({
  kind: 'binary',
  mediaType: essence === '' || essence.startsWith('text/') ? 'application/octet-stream' : essence,
  bytes,
})

/**
 * Parses a result according to its media type, unless its beginning contradicts that type. If there is no media type,
 * the beginning determines the format. Never throws: a result that cannot be parsed as declared becomes text with a
 * note. Takes about 6 ms per megabyte.
 */
export const parseDocument = (
  source: Uint8Array | string,
  mediaType = '',
  maxHeapBytes = MAX_HEAP_BYTES,
): StepOutput => {
  const type = parseMediaType(mediaType)
  if (typeof source === 'string') return parseText(source, type, maxHeapBytes)
  const decoded = decodeText(source, type)
  if (decoded === undefined) return { document: toBinary(type.essence, source.byteLength), notes: [] }
  const { document, notes } = parseText(decoded.text, type, maxHeapBytes)
  if (decoded.broken === 0) return { document, notes }
  return {
    document,
    notes: [...notes, `Characters that are invalid in its charset, shown as U+FFFD: ${decoded.broken}.`],
  }
}
