import { resourceLimits } from 'node:worker_threads'
import type { JsonValue } from '../kernel/json.ts'
import { findExactNumber } from './exact-numbers.ts'
import type { ResultDocument } from './result-document.ts'

// A worker that runs out of memory loses its cache, and inside JSON.parse V8 ends the whole process. So the memory that a
// result needs is estimated before parsing, by the worst case measured for its format.

/** Returns the share of this thread's heap limit in bytes, and at most `mostBytes`. */
export const shareOfHeap = (share: number, mostBytes: number): number =>
  Math.floor(
    Math.min(mostBytes, (resourceLimits.maxOldGenerationSizeMb ?? Number.POSITIVE_INFINITY) * 1_024 * 1_024 * share),
  )

/**
 * Maximum heap size of a parsed result. 10 MB of real records take at most a third of the larger value. A worker also
 * holds the result before and the index of its words.
 */
export const MAX_HEAP_BYTES = shareOfHeap(0.28, 300_000_000)
/** Heap size of an object or array that has one small member. */
const CONTAINER_BYTES = 200
const CELL_BYTES = 48
const CHARACTER_BYTES = 3
/** Heap size of a line or row sliced out of a larger string. */
const LINE_BYTES = 100

/** Estimates the heap size in bytes of parsed JSON or JSON lines. `containers` is the number of arrays and objects. */
export const heapOfJson = (characters: number, containers: number, lines = 1): number =>
  characters * CHARACTER_BYTES + containers * CONTAINER_BYTES + lines * LINE_BYTES

export const heapOfTable = (text: string): number => {
  let rows = 1
  let cells = 1
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === 0x0a || char === 0x0d) rows++
    else if (char === 0x2c || char === 0x3b || char === 0x09 || char === 0x7c) cells++
  }
  return text.length * CHARACTER_BYTES + rows * (CONTAINER_BYTES + LINE_BYTES) + (cells + rows) * CELL_BYTES
}

const heapOfValue = (value: JsonValue): number => {
  if (typeof value === 'string') return CELL_BYTES + value.length
  if (typeof value !== 'object' || value === null) return CELL_BYTES
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + heapOfValue(item), CONTAINER_BYTES)
  if (findExactNumber(value) !== undefined) return CONTAINER_BYTES
  let sum = CONTAINER_BYTES
  for (const name in value) sum += heapOfValue(value[name] ?? null)
  return sum
}

/** Estimates the heap size of a document in bytes, erring on the high side. */
export const heapOfDocument = (document: ResultDocument): number => {
  if (document.kind === 'json') return heapOfValue(document.value)
  return document.kind === 'text' ? document.text.length * 2 : CONTAINER_BYTES
}
