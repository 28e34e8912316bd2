import { expect, it } from 'vitest'
import { type CallResult, resultOfErrorStatus, resultOfFault } from '../../src/history/call-result.ts'
import type { OutboundFault } from '../../src/lib/outbound/outbound-fault.ts'
import { resultOfUpstreamFault, type UpstreamFault } from '../../src/upstreams/connection/upstream-error.ts'

it.each([
  [399, 'failed'],
  [400, 'rejected'],
  [404, 'rejected'],
  [499, 'rejected'],
  [500, 'failed'],
  [599, 'failed'],
  [200, 'failed'],
  [undefined, 'failed'],
] as const)('an error with the status %s is %s', (status, result) => {
  expect(resultOfErrorStatus(status)).toBe(result)
})

it.each<[OutboundFault, CallResult]>([
  ['timeout', 'timeout'],
  ['connect_timeout', 'timeout'],
  ['blocked', 'blocked'],
  ['invalid_request', 'failed'],
  ['dns', 'failed'],
  ['refused', 'failed'],
  ['reset', 'failed'],
  ['busy', 'failed'],
  ['too_large', 'failed'],
  ['too_many_redirects', 'failed'],
  ['tls', 'failed'],
  ['protocol', 'failed'],
  ['encoding', 'failed'],
  ['aborted', 'failed'],
  ['unreachable', 'failed'],
])('a request that ends with the fault "%s" is %s', (fault, result) => {
  expect(resultOfFault(fault)).toBe(result)
})

it.each<[UpstreamFault, CallResult]>([
  ['timeout', 'timeout'],
  ['connect_timeout', 'timeout'],
  ['no_response', 'timeout'],
  ['blocked', 'blocked'],
  ['misconfigured', 'failed'],
  ['command_not_found', 'failed'],
  ['exited', 'failed'],
  ['not_mcp_output', 'failed'],
  ['refused', 'failed'],
  ['not_mcp', 'failed'],
  ['unauthorized', 'failed'],
  ['http_status', 'failed'],
  ['too_large', 'failed'],
  ['protocol', 'failed'],
  ['session_ended', 'failed'],
  ['unavailable', 'failed'],
  ['aborted', 'failed'],
])('a call of an MCP server with the fault "%s" is %s', (fault, result) => {
  expect(resultOfUpstreamFault(fault)).toBe(result)
})
