import type { JsonObject } from '../../src/lib/kernel/json.ts'

export const INITIALIZE = (version: string, id: string | number = 1): JsonObject => ({
  jsonrpc: '2.0',
  id,
  method: 'initialize',
  params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } },
})
