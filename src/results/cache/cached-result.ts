import { isPassed, type PassedResult, type ToolResult } from '../../runtime/call/tool-result.ts'

/** A cached result, shaped and with secrets masked. */
export type CacheEntry<Result extends ToolResult | PassedResult = ToolResult | PassedResult> = {
  result: Result
  /** Status of the API's response; undefined for upstreams. */
  status: number | undefined
  responseBytes: number
  /** Content type as declared by the API. */
  contentType?: string | undefined
  /** How the response differs from the tool's output schema, if it does. */
  schemaMismatch?: string | undefined
  /** A line that tells the model how to get the next page of results. */
  nextPage?: string | undefined
  /** When the entry was cached, according to the cache's clock. */
  cachedAtMs: number
}

/** Memory that an entry takes besides its result: keys, maps and objects. */
const ENTRY_OVERHEAD_BYTES = 1_024
/** Memory that parsed JSON takes, as a multiple of the length of its text. */
const STRUCTURED_TIMES = 5

/** Estimates the memory that a result takes. */
export const sizeOf = (result: CacheEntry['result']): number => {
  if (isPassed(result)) {
    const { length } = result.json ?? JSON.stringify(result.passed)
    return ENTRY_OVERHEAD_BYTES + (2 + STRUCTURED_TIMES) * length
  }
  if ('utf8' in result) return ENTRY_OVERHEAD_BYTES + result.utf8.length
  const lengths = result.content.map(block => {
    if (block.type === 'text') return block.text.length
    return block.type === 'resource' ? block.resource.blob.length + block.resource.uri.length : block.data.length
  })
  const characters = lengths.reduce((sum, length) => sum + length, 0)
  const times = result.structuredContent === undefined ? 2 : 2 + STRUCTURED_TIMES
  return ENTRY_OVERHEAD_BYTES + times * characters
}

/** Copies a buffer that is a slice of a larger one, because the slice would keep all of it in memory. */
export const compact = (result: CacheEntry['result']): CacheEntry['result'] =>
  'utf8' in result && result.utf8.buffer.byteLength > result.utf8.length
    ? { ...result, utf8: Buffer.from(result.utf8) }
    : result
