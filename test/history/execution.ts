import { newExecutionId } from '../../src/history/execution-id.ts'
import type { ExecutionRecord } from '../../src/history/execution-record.ts'

/** Builds a successful call of a server, with changes. */
export const buildExecution = (serverId: string, changes: Partial<ExecutionRecord> = {}): ExecutionRecord => ({
  id: newExecutionId(),
  serverId,
  instanceId: undefined,
  tool: 'get_weather',
  userId: undefined,
  client: undefined,
  startedAt: new Date(),
  durationMs: 12.5,
  outcome: 'ok',
  status: 200,
  requestBytes: 0,
  responseBytes: 300,
  error: undefined,
  request: { method: 'GET', url: 'https://api.example.com/weather', headers: [['accept', 'application/json']] },
  ...changes,
})
