import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attach, callServer, listTools, type OAuthWorlds, startOAuthWorlds } from './oauth-support.ts'

let worlds: OAuthWorlds
beforeAll(async () => {
  worlds = await startOAuthWorlds()
})
afterAll(() => worlds.close())

describe('an upstream that all callers reach by one account', () => {
  it('says that it is not connected, then is connected by its builder and called', async () => {
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
})
