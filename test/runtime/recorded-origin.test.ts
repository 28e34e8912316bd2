import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { INITIALIZE, postTo } from '../mcp/messages.ts'
import { makeServer } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const Recorded = z.object({ token: z.string().nullable(), requestId: z.string().nullable() })
const History = z.object({ items: z.array(Recorded) })
const Tokens = z.object({ items: z.array(z.object({ id: z.string() })) })

describe.each(databasesOfRun)('the history on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const fake = runFakeApi()
  const builder = runUser(patchbay)

  const make = () =>
    makeServer(builder, [{ name: 'tool', method: 'GET', url: `${fake.origin}/` }], { server: { access: 'private' } })
  const newestIn = async (serverId: string) =>
    History.parse((await builder.expectOk('GET', `/servers/${serverId}/executions`)).body).items[0]

  it('names the token and the request of a call over MCP', async () => {
    const { serverId, url } = await make()
    const { headers } = await postTo(url, builder.token, INITIALIZE())
    const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '' }
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'tool', arguments: {} } }
    expect(await (await postTo(url, builder.token, call, session)).json()).toMatchObject({ result: {} })
    const first = await newestIn(serverId)
    await (await postTo(url, builder.token, call, session)).json()
    const second = await newestIn(serverId)
    const [token] = Tokens.parse((await builder.expectOk('GET', '/tokens')).body).items
    expect([first?.token, second?.token]).toEqual([token?.id, token?.id])
    expect(first?.requestId).toMatch(/^[0-9a-f]{8}-[0-9a-z]+$/)
    expect(second?.requestId).not.toBe(first?.requestId)
  })

  it('names the request of a call over the API, which has no token of its own', async () => {
    const { serverId, instanceIds } = await make()
    const { headers } = await builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: {} })
    expect(await newestIn(serverId)).toEqual({ token: null, requestId: headers.get('x-request-id') })
  })
})
