import { formatNumber } from '../kernel/format.ts'
import { isJsonObject, type JsonValue, measureJson } from '../kernel/json.ts'
import { failure, type Result, success } from '../kernel/result.ts'
import { findExactNumber, parseExactly } from './exact-numbers.ts'
import { countLines } from './format-counts.ts'
import { heapOfJson } from './heap-cost.ts'

/** Maximum nesting depth of JSON. Ten times that of API responses, and low enough for recursion. */
const MAX_DEPTH = 200

type ParsedJson<Value extends JsonValue> = { value: Value; notes: readonly string[] }

const countMembers = (value: JsonValue): number => {
  let count = 0
  if (Array.isArray(value)) for (const item of value) count += countMembers(item)
  else if (isJsonObject(value) && findExactNumber(value) === undefined) {
    for (const key of Object.keys(value)) count += 1 + countMembers(value[key] ?? null)
  }
  return count
}

/** The reason why a text was not parsed as JSON. `message` is a clause. */
export type JsonFailure = { reason: 'depth' | 'size' | 'syntax'; message: string }

export const parseJsonText = (text: string, maxHeapBytes: number): Result<ParsedJson<JsonValue>, JsonFailure> => {
  const { deepest, containers, colons } = measureJson(text)
  if (deepest > MAX_DEPTH) {
    return failure({ reason: 'depth', message: `it is nested more than ${MAX_DEPTH} levels deep` })
  }
  if (heapOfJson(text.length, containers) > maxHeapBytes) {
    return failure({ reason: 'size', message: `it has ${formatNumber(containers)} objects and lists` })
  }
  try {
    const { value, hasExactNumbers } = parseExactly(text)
    const repeated = colons - countMembers(value)
    return success({
      value,
      notes: [
        ...(repeated > 0
          ? [`Keys that occur more than once in their object: ${repeated}. The last value of each is used.`]
          : []),
        ...(hasExactNumbers ? ['It contains numbers too long for a double; all their digits are kept.'] : []),
      ],
    })
  } catch (error) {
    return failure({ reason: 'syntax', message: error instanceof SyntaxError ? error.message : 'it is not JSON' })
  }
}

const BROKEN_LINES_SHOWN = 5

/**
 * Parses one JSON text per line and skips empty lines. If the format `isDeclared`, an invalid line becomes a string
 * with a note; otherwise returns undefined. Also returns undefined if the result would take too much memory.
 */
export const parseJsonLines = (
  text: string,
  isDeclared: boolean,
  maxHeapBytes: number,
): ParsedJson<JsonValue[]> | undefined => {
  const value: JsonValue[] = []
  const broken: number[] = []
  const notes = new Set<string>()
  let lineNumber = 0
  if (heapOfJson(text.length, measureJson(text).containers, countLines(text)) > maxHeapBytes) return undefined
  for (const line of text.split('\n')) {
    lineNumber++
    const trimmed = line.trim()
    if (trimmed === '') continue
    const parsed = parseJsonText(trimmed, maxHeapBytes)
    if (parsed.ok) {
      value.push(parsed.value.value)
      for (const note of parsed.value.notes) notes.add(note)
    } else if (!isDeclared) return undefined
    else {
      broken.push(lineNumber)
      value.push(trimmed)
    }
  }
  if (broken.length > 0) {
    const shown = broken.slice(0, BROKEN_LINES_SHOWN).join(', ')
    const all = broken.length > BROKEN_LINES_SHOWN ? `, … (${broken.length} in all)` : ''
    notes.add(`Lines that are not JSON, kept as strings: ${shown}${all}.`)
  }
  return { value, notes: [...notes] }
}
