import type { MaskedRequest } from '../../history/execution-record.ts'
import type { StoredExecution } from '../../history/executions.store.ts'
import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import { readTexts } from '../../results/budget/result-parts.ts'
import { type BlocksResult, isLongText, type ToolResult } from '../../runtime/call/tool-result.ts'
import { toCurl } from '../../runtime/try/curl.ts'
import type { ToolTest } from '../../runtime/try/tool-test.ts'

const toRequestView = (request: MaskedRequest) => ({
  ...request,
  headers: request.headers.map(([name, value]) => ({ name, value })),
})

const toHeaderViews = (headers: Record<string, string | string[]>) =>
  Object.entries(headers).flatMap(([name, value]) => [value].flat().map(one => ({ name, value: one })))

const toBlocks = (result: ToolResult): BlocksResult =>
  isLongText(result) ? { content: readTexts(result).map(text => ({ type: 'text', text })) } : result

export const toResultView = (result: ToolResult) => {
  const { content, ...rest } = toBlocks(result)
  return { ...rest, content: content.map((block): Record<string, JsonValue> => ({ ...block })) }
}

export const toToolTestView = ({
  request,
  response,
  curl,
  result,
  schemaMismatch,
  timing,
  attempts,
  proposedSchema,
}: ToolTest & { proposedSchema?: JsonObject | undefined }) => ({
  request: request && toRequestView(request),
  response: response && { ...response, headers: toHeaderViews(response.headers) },
  curl,
  result: toResultView(result),
  schemaMismatch,
  timing,
  attempts,
  proposedSchema,
})

export const toExecutionView = (execution: StoredExecution) => ({
  ...execution,
  tool: execution.tool === '' ? null : execution.tool,
  caller: execution.userId,
  token: execution.tokenId,
  request: execution.request && toRequestView(execution.request),
  answerAgeMs: execution.request?.answerAgeMs,
  schemaMismatch: execution.request?.schemaMismatch,
  tokensEstimated: execution.areTokensEstimated,
})

export const toExecutionDetailView = (execution: StoredExecution) => ({
  ...toExecutionView(execution),
  arguments: execution.arguments,
  curl: execution.request && toCurl(execution.request),
})
