import { newExecutionId } from '../../src/history/execution-id.ts'
import { type ExecutionRecord, MASKED, type MaskedRequest } from '../../src/history/execution-record.ts'

type Changes = Partial<Omit<ExecutionRecord, 'request'>> & { request?: Omit<MaskedRequest, typeof MASKED> | undefined }

const REQUEST = {
  method: 'GET',
  url: 'https://api.example.com/weather',
  headers: [['accept', 'application/json']],
} satisfies Changes['request']

/** Builds the record of a successful call, with the given changes. */
export const buildExecution = (serverId: string, changes: Changes = {}): ExecutionRecord => {
  const { request }: Changes = { request: REQUEST, ...changes }
  return {
    id: newExecutionId(),
    serverId,
    instanceId: undefined,
    tool: 'get_weather',
    userId: undefined,
    client: undefined,
    startedAt: new Date(),
    durationMs: 12.5,
    outcome: 'ok',
    result: changes.outcome === 'error' ? 'failed' : 'success',
    status: 200,
    requestBytes: 0,
    responseBytes: 300,
    error: undefined,
    ...changes,
    request: request && { ...request, [MASKED]: true },
  }
}
