import type { CallResult } from '../../history/call-result.ts'
import type { Recorder } from '../../history/execution-record.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'
import type { CallContext } from '../../runtime/call/compiled-tool.ts'
import { findErrorText, isRefused, type ToolResult, type UpstreamResult } from '../../runtime/call/tool-result.ts'
import { type Masker, maskBeginning } from '../mask/masking.ts'
import { recordCall } from '../mask/record-call.ts'
import { readTexts } from './result-parts.ts'

export type InspectionRecordParts = { serverId: string; recorder: Pick<Recorder, 'record'>; masker: Masker }

/** URL prefix in the history for inspections of cached results, which send no request. */
const ADDRESS = 'patchbay:answers/'

/** Hides the cache id, because anyone who sees it in the history of a public server could open the result. */
const withoutId = (args: JsonObject): JsonObject => (args.cache_id === undefined ? args : { ...args, cache_id: '•••' })

/**
 * Records inspections of cached results in the history, like tool calls. The inner function returns the execution's id.
 */
export const createInspectionRecords =
  ({ serverId, recorder, masker }: InspectionRecordParts) =>
  (tool: string, args: JsonObject, { caller, client, requestId }: CallContext) => {
    const startedAt = new Date()
    const startedMs = performance.now()
    return (result: ToolResult | UpstreamResult, callResult: CallResult): string => {
      const body = JSON.stringify(withoutId(args))
      const texts = isRefused(result) ? [] : readTexts(result)
      const error = findErrorText(result)
      return recordCall(recorder, masker, {
        serverId,
        tool,
        caller,
        client,
        requestId,
        startedAt,
        durationMs: performance.now() - startedMs,
        result: callResult,
        status: undefined,
        requestBytes: Buffer.byteLength(body),
        responseBytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
        error: error && maskBeginning(error, masker),
        request: { method: 'tools/call', url: `${ADDRESS}${tool}`, headers: [], body },
      })
    }
  }
