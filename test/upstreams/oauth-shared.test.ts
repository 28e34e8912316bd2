import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fieldsOf } from '../oauth/support/visitor.ts'
import { during } from '../support/world.ts'
import {
  attach,
  callServer,
  leavingLink,
  listTools,
  makePerson,
  startConnecting,
  startOAuthWorlds,
} from './oauth-support.ts'

const worlds = during(() => startOAuthWorlds())

describe('an upstream with one account for all callers', () => {
  it('reports that it is not connected, and works once its builder has connected it', async () => {
    const { owner, back, connect } = worlds
    const { serverId, upstreamId, url } = await attach(owner, back.url, { type: 'oauth' })
    const before = await owner.expectOk('GET', `/upstreams/${upstreamId}`)
    expect(before.body).toMatchObject({ auth: { type: 'oauth', per: 'server', connection: null } })
    const page = await connect(owner.visitor, upstreamId)
    expect(page.status).toBe(200)
    expect(page.url).toContain(`/servers/${serverId}/sources/upstreams/${upstreamId}?done=connected`)
    expect(await listTools(url, owner.token)).toEqual(['back_get_shipment'])
    const answered = await callServer(url, owner.token, 'back_get_shipment', { id: '1' })
    expect(answered).toMatchObject({ text: expect.stringContaining('/shipments/1') })
    expect(answered.isError).not.toBe(true)
  })

  it('can also be connected over the older transport, with a token for the same server', async () => {
    const { owner, back, connect } = worlds
    const { upstreamId, url } = await attach(owner, `${back.url}/sse`, { type: 'oauth' }, { transport: 'sse' })
    expect((await connect(owner.visitor, upstreamId)).status).toBe(200)
    expect((await callServer(url, owner.token, 'back_get_shipment', { id: '7' })).text).toContain('/shipments/7')
  })

  it('is not connected by users who may not build, or who refuse consent', async () => {
    const { owner, back, front } = worlds
    const { upstreamId, url } = await attach(owner, back.url, { type: 'oauth' }, { server: { access: 'public' } })
    const stranger = await makePerson(front.origin, 'stranger@example.com')
    expect((await stranger.visitor.get(`/connect/${upstreamId}`)).status).toBe(404)
    const href = leavingLink(await startConnecting(owner.visitor, upstreamId))
    const page = await owner.visitor.get(await back.agree(back.owner.visitor, href, 'no'))
    expect(page.status).toBe(400)
    expect(page.text).toContain('access_denied')
    expect(await listTools(url, owner.token)).toEqual([])
  })

  it('stays connected when it is saved unchanged through the API or its form', async () => {
    const { owner, back, connect } = worlds
    const { serverId, upstreamId, url } = await attach(owner, back.url, {
      type: 'oauth',
      scopes: ['mcp:read', 'mcp:call'],
    })
    await connect(owner.visitor, upstreamId)
    const { body } = await owner.expectOk('GET', `/upstreams/${upstreamId}`)
    const read = z.record(z.string(), z.unknown()).parse(body)
    const { status, body: answer } = await owner.send('PATCH', `/upstreams/${upstreamId}`, {
      auth: read.auth,
      name: 'back',
    })
    expect(status, JSON.stringify(answer)).toBe(200)
    const path = `/servers/${serverId}/sources/upstreams/${upstreamId}`
    const { action, fields } = fieldsOf(await owner.visitor.get(path), `${path}`, 'version')
    const form = { ...fields, name: 'back', transport: 'http', url: back.url, tools: 'on', enabled: 'on' }
    const saved = await owner.visitor.post(action, { ...form, auth: 'server', scopes: 'mcp:read mcp:call' })
    expect(saved.url).toContain('done=saved')
    expect(saved.text).toContain('Change or disconnect')
    expect((await callServer(url, owner.token, 'back_get_shipment', { id: '4' })).isError).not.toBe(true)

    // Switching to one account per caller deletes the shared account.
    const next = fieldsOf(await owner.visitor.get(path), path, 'version')
    const changed = await owner.visitor.post(action, {
      ...form,
      version: next.fields.version ?? '',
      auth: 'caller',
      scopes: '',
    })
    expect(changed.text).toContain('No caller has connected an account yet')
    expect((await owner.expectOk('GET', `/upstreams/${upstreamId}`)).body).toMatchObject({
      auth: { per: 'caller', connection: null, scopes: null },
    })
    expect((await callServer(url, owner.token, 'back_get_shipment', { id: '5' })).text).toContain(
      `/connect/${upstreamId}`,
    )
  })

  it("is recorded in the audit log, and never receives the caller's token", async () => {
    const { owner, back, connect, front } = worlds
    const { upstreamId, url } = await attach(owner, back.url, { type: 'oauth' })
    await connect(owner.visitor, upstreamId)
    await callServer(url, owner.token, 'back_get_shipment', { id: '9' })
    const entries = await front.services.db.auditEntry.findMany({ where: { action: 'upstream.connected' } })
    expect(entries.map(({ targetId }) => targetId)).toContain(upstreamId)
    const { body } = await back.owner.expectOk('GET', `/servers/${back.serverId}/executions`)
    expect(JSON.stringify([body, back.api.seen])).not.toContain(owner.token)
  })
})
