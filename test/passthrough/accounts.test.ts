import { describe, expect, it, onTestFinished } from 'vitest'
import { insertToken } from '../oauth/support/tokens.ts'
import { signUp } from '../support/api-client.ts'
import { during, runPatchbay } from '../support/world.ts'
import { connectClient } from '../upstreams/clients.ts'
import { startOAuthFake } from '../upstreams/oauth-fake.ts'
import { attach, leavingLink, makePerson, startConnecting, startOAuthWorlds } from '../upstreams/oauth-support.ts'
import { passTo, startUpstream } from './support.ts'

describe('an upstream with authorization behind a passthrough server', () => {
  const worlds = during(() => startOAuthWorlds())
  const passed = (auth: object) =>
    attach(worlds.owner, worlds.back.url, auth, { server: { presentation: 'passthrough' } })
  const ask = async (url: string, token: string | undefined) => {
    const answer = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{}' })
    return { status: answer.status, text: await answer.text() }
  }

  it('is called with the account that its builder connected, and never with the caller’s token', async () => {
    const { owner, back, connect } = worlds
    const { upstreamId, url } = await passed({ type: 'oauth' })
    const before = await ask(url, owner.token)
    expect(before).toMatchObject({ status: 502, text: expect.stringContaining('has no connected account yet') })
    expect((await connect(owner.visitor, upstreamId)).status).toBe(200)
    const client = await connectClient('sdk 1', url, { token: owner.token ?? '' })
    expect(await client.request('tools/list')).toMatchObject({ tools: [{ name: 'get_shipment' }] })
    expect(back.api.seen.length).toBe(0)
    expect(await client.callTool('get_shipment', { id: '7' })).toMatchObject({
      content: [{ text: expect.stringContaining('/shipments/7') }],
    })
  })

  it('is called with each caller’s own account', async () => {
    const { front, back, connect } = worlds
    const { serverId, upstreamId, url } = await passed({ type: 'oauth', per: 'caller' })
    await worlds.owner.expectOk('PATCH', `/servers/${serverId}`, { access: 'public' })
    const ann = await makePerson(front.origin, 'ann@example.com')
    const there = await makePerson(back.origin, 'ann.there@example.com')
    await back.owner.expectOk('PATCH', `/servers/${back.serverId}`, { access: 'private', allowedUsers: [there.email] })
    expect(await ask(url, ann.token)).toMatchObject({
      status: 502,
      text: expect.stringContaining(`/connect/${upstreamId}`),
    })
    await connect(ann.visitor, upstreamId, there.visitor)
    const client = await connectClient('sdk 2', url, { token: ann.token ?? '' })
    expect(await client.request('tools/list')).toMatchObject({ tools: [{ name: 'get_shipment' }] })
    expect((await ask(url, undefined)).status).toBe(502)
  })

  it('loses the streams of a caller who disconnects their account, whatever the upstream does', async () => {
    const { front, owner } = worlds
    const fake = await startOAuthFake()
    onTestFinished(fake.close)
    const auth = { type: 'oauth', per: 'caller' }
    const { upstreamId, url } = await attach(owner, fake.url, auth, {
      server: { presentation: 'passthrough', access: 'public' },
    })
    const bob = await makePerson(front.origin, 'bob@example.com')
    const back = fake.agree(leavingLink(await startConnecting(bob.visitor, upstreamId)))
    expect((await bob.visitor.get(back)).status).toBe(200)
    fake.behave({ streams: true })
    const headers = { authorization: `Bearer ${bob.token}` }
    const answer = await fetch(url, { headers })
    expect(answer.status).toBe(200)
    const { id } = await front.services.db.upstreamAccount.findFirstOrThrow({ where: { upstreamId } })
    const ended = answer.text()
    await bob.expectOk('DELETE', `/me/upstream-accounts/${id}`)
    expect(await ended).toContain('data: first')
    expect((await fetch(url, { headers })).status).toBe(502)
  })
})

describe('a token of the authorization server for a passthrough server', () => {
  const patchbay = runPatchbay()

  it('needs the scope mcp:call for every request', async () => {
    const api = await signUp(patchbay.origin)
    const upstream = await startUpstream()
    const server = await passTo(api, `http://127.0.0.1:${upstream.port}/mcp`, { server: { access: 'private' } })
    const ask = async (scope: string) => {
      const wish = { origin: patchbay.origin, userId: api.userId, serverId: server.id, scope }
      const { token } = await insertToken(patchbay.services, wish)
      return fetch(server.url, { headers: { authorization: `Bearer ${token}` } })
    }
    const refused = await ask('mcp:read')
    expect(refused.status).toBe(403)
    expect(refused.headers.get('www-authenticate')).toMatch(/error="insufficient_scope".*scope="mcp:read mcp:call"/)
    // The port may be that of an earlier upstream, which Patchbay still probes with OPTIONS.
    expect(upstream.seen.filter(({ method }) => method !== 'OPTIONS')).toEqual([])
    expect((await ask('mcp:call')).status).toBe(200)
  })
})
