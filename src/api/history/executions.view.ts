import type { z } from 'zod'
import type { ExecutionGap, MaskedRequest } from '../../history/execution-record.ts'
import type { StoredExecution } from '../../history/executions.store.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import { type BlocksResult, isLongText, type ToolResult } from '../../runtime/call/tool-result.ts'
import type { ToolTest } from '../../runtime/try/tool-test.ts'
import type { CallToolResultView, ExecutionView, GapView, ToolTestView } from './executions.schema.ts'

const toRequestView = ({ method, url, headers, body }: MaskedRequest) => ({
  method,
  url,
  headers: headers.map(([name, value]) => ({ name, value })),
  body: body ?? null,
})

const toHeaderViews = (headers: Record<string, string | string[]>) =>
  Object.entries(headers).flatMap(([name, value]) => [value].flat().map(one => ({ name, value: one })))

const toBlocks = (result: ToolResult): BlocksResult =>
  isLongText(result) ? { content: [{ type: 'text', text: result.utf8.toString() }] } : result

export const toResultView = (result: ToolResult): z.infer<typeof CallToolResultView> => {
  const { content, structuredContent, isError } = toBlocks(result)
  return {
    content: content.map((block): Record<string, JsonValue> => ({ ...block })),
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(isError === undefined ? {} : { isError }),
  }
}

const toResponseView = ({ status, headers, body, durationMs }: NonNullable<ToolTest['response']>) => ({
  status,
  headers: toHeaderViews(headers),
  body,
  durationMs,
})

export const toToolTestView = ({ request, response, curl, result }: ToolTest): z.infer<typeof ToolTestView> => ({
  request: request === undefined ? null : toRequestView(request),
  response: response === undefined ? null : toResponseView(response),
  curl: curl ?? null,
  result: toResultView(result),
})

export const toExecutionView = (execution: StoredExecution): z.infer<typeof ExecutionView> => ({
  id: execution.id,
  serverId: execution.serverId,
  instanceId: execution.instanceId ?? null,
  tool: execution.tool === '' ? null : execution.tool,
  caller: execution.userId ?? null,
  client: execution.client ?? null,
  startedAt: execution.startedAt.toISOString(),
  durationMs: execution.durationMs,
  outcome: execution.outcome,
  status: execution.status ?? null,
  requestBytes: execution.requestBytes,
  responseBytes: execution.responseBytes,
  error: execution.error ?? null,
  request: execution.request === undefined ? null : toRequestView(execution.request),
  answerAgeMs: execution.request?.answerAgeMs ?? null,
  tokensBefore: execution.tokensBefore ?? null,
  tokensSent: execution.tokensSent ?? null,
  tokensEstimated: execution.areTokensEstimated,
  createdAt: execution.createdAt.toISOString(),
  updatedAt: execution.updatedAt.toISOString(),
})

export const toGapView = ({ missing, from, to, reason }: ExecutionGap): z.infer<typeof GapView> => ({
  missing,
  from: from.toISOString(),
  to: to.toISOString(),
  reason,
})
