import { beforeAll, describe, expect, it } from 'vitest'
import { makeServer } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { answerJson } from '../support/fake-api.ts'
import { runFakeApi } from '../support/world.ts'
import { startReceiver, verify } from './receiver.ts'
import { addWebhook, runDelivering } from './webhooks-world.ts'

describe.each(databasesOfRun)('events on $kind', kind => {
  const patchbay = runDelivering(kind, { hasMail: true })
  beforeAll(() => patchbay.services.deliverer.start())

  const mcp = { isDown: false, tools: ['forecast'] }
  const upstream = runFakeApi((request, response) => {
    if (mcp.isDown) return void response.writeHead(503).end()
    const { id, method } = request.body === '' ? {} : JSON.parse(request.body)
    if (id === undefined) return void response.writeHead(request.method === 'POST' ? 202 : 405).end()
    const serverInfo = { name: 'weather', version: '1' }
    const results: Record<string, object> = {
      initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo },
      'tools/list': { tools: mcp.tools.map(name => ({ name, inputSchema: { type: 'object' } })) },
    }
    const result = results[String(method)]
    const error = { code: -32_601, message: 'Method not found' }
    answerJson(response, { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) })
  })

  it('tell that an MCP server is down and back, once each, and that its tools changed', async () => {
    const owner = await patchbay.person()
    const receiver = await startReceiver()
    const types = ['upstream.down', 'upstream.recovered', 'upstream.tools_changed']
    const { secret } = await addWebhook(owner, receiver.url, types)
    const eventAt = async (index: number) => {
      const request = (await receiver.received(index + 1))[index]
      if (request === undefined) throw new Error('nothing was received')
      return verify(request, secret)
    }
    const server = await owner.create('/servers', { name: 'Weather' })
    mcp.isDown = true
    const attached = { name: 'weather', transport: 'http', url: upstream.origin }
    const { id } = await owner.create(`/servers/${server.id}/upstreams`, attached)
    await owner.send('POST', `/upstreams/${id}/refresh`)
    const named = { serverId: server.id, upstreamId: id, upstreamName: 'weather' }
    expect(await eventAt(0)).toMatchObject({ type: 'upstream.down', data: named })
    mcp.isDown = false
    expect(await eventAt(1)).toMatchObject({ type: 'upstream.recovered', data: named })
    await owner.expectOk('POST', `/upstreams/${id}/refresh`)
    mcp.tools = ['forecast', 'alerts']
    await owner.expectOk('POST', `/upstreams/${id}/refresh`)
    expect(await eventAt(2)).toMatchObject({
      type: 'upstream.tools_changed',
      data: { ...named, added: ['alerts'], removed: [], changed: [] },
    })
  })

  it('tell that somebody joined the organization', async () => {
    const owner = await patchbay.person()
    const guest = await patchbay.person()
    const receiver = await startReceiver()
    const { secret } = await addWebhook(owner, receiver.url, ['member.joined'])
    const invitation = { email: guest.email, role: 'builder' }
    await owner.create(`/organizations/${owner.organizationId}/invitations`, invitation)
    await guest.expectOk('POST', '/invitations/accept', { token: patchbay.linkTo(guest.email) })
    const [request] = await receiver.received(1)
    expect(request && verify(request, secret)).toMatchObject({
      type: 'member.joined',
      organizationId: owner.organizationId,
      data: { userId: guest.userId, ...invitation },
    })
  })

  it('tell that too many calls of a server failed, once while that lasts', async () => {
    const owner = await patchbay.person()
    const failing = await startReceiver(response => void response.writeHead(500).end())
    await owner.expectOk('PATCH', `/organizations/${owner.organizationId}`, { errorRatePercent: 60 })
    const { serverId, instanceIds } = await makeServer(owner, [{ name: 'report', method: 'GET', url: failing.url }])
    const receiver = await startReceiver()
    const { secret } = await addWebhook(owner, receiver.url, ['server.error_rate_exceeded', 'toolkit.changed'])
    const call = () => owner.expectOk('POST', `/instances/${instanceIds.report}/call`, { arguments: {} })
    for (let at = 0; at < 25; at++) await call()
    const [request] = await receiver.received(1)
    if (request === undefined) throw new Error('nothing was received')
    const { type, data } = verify(request, secret)
    expect(type).toBe('server.error_rate_exceeded')
    expect(data).toMatchObject({ serverId, serverName: 'Server', errorRate: 100, threshold: 60, minutes: 5 })
    const toolkit = await owner.create('/toolkits', { title: 'Later' })
    await owner.expectOk('PATCH', `/toolkits/${toolkit.id}`, { title: 'Later still' })
    const [, later] = await receiver.received(2)
    expect(later && verify(later, secret).type).toBe('toolkit.changed')
  })
})
