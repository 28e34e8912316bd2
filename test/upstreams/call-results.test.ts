import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { CALL_RESULTS } from '../../src/history/call-result.ts'
import { databasesOfRun } from '../support/databases.ts'
import { runAttached } from './attached.ts'
import { runScriptedUpstreams } from './scripted-upstream.ts'

const History = z.object({
  items: z.tuple([z.object({ outcome: z.string(), result: z.enum(CALL_RESULTS), status: z.null() })]),
})
const TIMEOUT_MS = 500

describe.each(databasesOfRun)('the result of a call of an MCP server, on $kind', kind => {
  const world = runAttached({ kind })
  const upstreams = runScriptedUpstreams({
    well: {},
    refusing: { result: () => '{"content":[{"type":"text","text":"No such shipment."}],"isError":true}' },
    'with-arguments': { refusal: 'id is missing', refusalCode: -32_602 },
    broken: { refusal: 'Internal error', refusalCode: -32_603 },
    silent: { onCall: () => {} },
    unavailable: { onCall: response => void response.writeHead(503).end() },
    reset: { onCall: response => void response.socket?.resetAndDestroy() },
    moved: { onCall: response => void response.writeHead(307, { location: 'http://10.0.0.1/' }).end() },
  })
  const urlOf = (path: string) => ({ transport: 'http', url: upstreams.urlOf(path), timeoutMs: TIMEOUT_MS })

  it.each([
    ['success', 'a result', 'well'],
    ['rejected', 'a result with isError', 'refusing'],
    ['invalid_arguments', 'the error -32602', 'with-arguments'],
    ['failed', 'another error', 'broken'],
    ['failed', 'the HTTP status 503', 'unavailable'],
    ['failed', 'a connection that was reset', 'reset'],
    ['timeout', 'no response in time', 'silent'],
    ['blocked', 'a redirect to a private address', 'moved'],
  ])('is %s for %s', async (result, _situation, path) => {
    const { serverId } = await world.makeServer({ up: urlOf(path) })
    const client = await world.connect('sdk 2', serverId)
    await client.callTool('up_work')
    const { body } = await world.operator.expectOk('GET', `/servers/${serverId}/executions`)
    const outcome = result === 'success' ? 'ok' : 'error'
    expect(History.parse(body).items).toEqual([{ result, outcome, status: null }])
  })
})
