import type { Recorder } from '../../history/execution-record.ts'
import { isJsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { CallContext } from '../../runtime/call/compiled-tool.ts'
import {
  isErrorResult,
  isLongText,
  isPassed,
  isRefused,
  type ToolResult,
  type UpstreamResult,
} from '../../runtime/call/tool-result.ts'
import type { Masker } from '../mask/masking.ts'
import { maskBeginning, recordCall } from '../mask/record-call.ts'

export type InspectionRecordParts = { serverId: string; recorder: Pick<Recorder, 'record'>; masker: Masker }

/** URL prefix in the history for inspections of cached results, which send no request. */
const ADDRESS = 'patchbay:answers/'

type InspectedResult = ToolResult | UpstreamResult

const blocksOf = (result: InspectedResult): readonly unknown[] => {
  if (isRefused(result) || isLongText(result)) return []
  const { content } = isPassed(result) ? result.passed : result
  return Array.isArray(content) ? content : []
}

const textsOf = (result: InspectedResult): string[] =>
  blocksOf(result).flatMap(block => (isJsonObject(block) && typeof block.text === 'string' ? [block.text] : []))

/** Hides the cache id. On a public server it gives access to the result, which readers of the history must not get. */
const withoutId = (given: JsonValue | undefined): JsonValue =>
  isJsonObject(given) && given.cache_id !== undefined ? { ...given, cache_id: '•••' } : (given ?? {})

/** Records inspections of cached results in the history, like calls of tools. The inner function returns the id. */
export const createInspectionRecords =
  ({ serverId, recorder, masker }: InspectionRecordParts) =>
  (tool: string, given: JsonValue | undefined, { caller, client }: CallContext) => {
    const startedAt = new Date()
    const startedMs = performance.now()
    return (result: InspectedResult): string => {
      const body = JSON.stringify(withoutId(given))
      const texts = textsOf(result)
      return recordCall(recorder, masker, {
        serverId,
        tool,
        caller,
        client,
        startedAt,
        durationMs: performance.now() - startedMs,
        outcome: isErrorResult(result) ? 'error' : 'ok',
        status: undefined,
        requestBytes: Buffer.byteLength(body),
        responseBytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
        error: isErrorResult(result) ? maskBeginning(texts[0] ?? '', masker) : undefined,
        request: { method: 'tools/call', url: `${ADDRESS}${tool}`, headers: [], body },
      })
    }
  }
