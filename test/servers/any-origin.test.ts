import { describe, expect, it, vi } from 'vitest'
import { INITIALIZE, postTo } from '../mcp/messages.ts'
import { makeServer } from '../support/api-client.ts'
import { createPageBrowser } from '../support/page-browser.ts'
import { runPatchbay } from '../support/world.ts'

vi.setConfig({ testTimeout: 30_000 })

const BASE_URL = 'http://patchbay.example'
const CHOICE = /<input type="checkbox" name="origins"( checked)?>/

describe('whether any website may call a public server', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_BASE_URL: BASE_URL } })
  const local = runPatchbay()

  /** Calls a server as a page of another website, and returns the status and the origin that may read the response. */
  const callFromPage = async (url: string) => {
    const response = await postTo(url, undefined, INITIALIZE(), { origin: 'https://website.example' })
    await response.text()
    return [response.status, response.headers.get('access-control-allow-origin')]
  }
  const signIn = async (origin: string, email: string) => {
    const person = createPageBrowser(origin)
    await person.submit('/sign-in', { email, password: 'correct horse battery staple' }, { origin: BASE_URL })
    return person
  }

  it('is decided by its owner on the settings page, applies at once and is audited', async () => {
    const owner = await patchbay.person()
    const { serverId, url } = await makeServer(owner, [])
    const path = `/servers/${serverId}/settings`
    const person = await signIn(patchbay.origin, owner.email)
    expect(CHOICE.exec((await person.get(path)).html)?.[1]).toBeUndefined()
    expect(await callFromPage(url)).toEqual([403, null])
    const saved = await person.submit(`${path}/origins`, { origins: 'on' }, { origin: BASE_URL })
    expect(saved).toMatchObject({ status: 303, location: `${path}?done=opened` })
    expect(await callFromPage(url)).toEqual([200, '*'])
    const { html } = await person.get(`${path}?done=opened`)
    expect(html).toContain('Saved. Any website may call this server.')
    expect(CHOICE.exec(html)?.[1]).toBe(' checked')
    expect(html).not.toContain('This has no effect at the moment')
    await owner.expectOk('PATCH', `/servers/${serverId}`, { allowAnyOrigin: false })
    expect(await callFromPage(url)).toEqual([403, null])
    const entries = await patchbay.db.auditEntry.findMany({ where: { action: 'server.origins_changed' } })
    expect(entries).toMatchObject([
      { targetId: serverId, actorId: owner.userId, change: { allowAnyOrigin: { from: false, to: true } } },
      { targetId: serverId, actorId: owner.userId, change: { allowAnyOrigin: { from: true, to: false } } },
    ])
  })

  it('cannot be decided by other builders, but by admins', async () => {
    const owner = await patchbay.person()
    const { serverId } = await makeServer(owner, [])
    const [builder, admin] = await Promise.all(
      (['builder', 'admin'] as const).map(role => patchbay.member(owner.organizationId, role)),
    )
    const wish = { allowAnyOrigin: true }
    expect((await builder?.send('PATCH', `/servers/${serverId}`, { ...wish, name: 'Renamed' }))?.status).toBe(403)
    const unchanged = { allowAnyOrigin: false, name: 'Renamed' }
    expect((await builder?.send('PATCH', `/servers/${serverId}`, unchanged))?.status).toBe(200)
    const path = `/servers/${serverId}/settings`
    const person = await signIn(patchbay.origin, builder?.email ?? '')
    const { html } = await person.get(path)
    expect(html).toContain('Other websites may not call this server. Only its owner and organization admins')
    expect(html).not.toMatch(CHOICE)
    expect((await person.submit(`${path}/origins`, { origins: 'on' }, { origin: BASE_URL })).status).toBe(403)
    expect(await admin?.send('PATCH', `/servers/${serverId}`, wish)).toMatchObject({ status: 200, body: wish })
  })

  it('can be set when the server is created; servers that require a token allow it anyway', async () => {
    const owner = await patchbay.person()
    const open = await makeServer(owner, [], { server: { allowAnyOrigin: true } })
    expect(await callFromPage(open.url)).toEqual([200, '*'])
    await owner.expectOk('PATCH', `/servers/${open.serverId}`, { access: 'private', allowAnyOrigin: false })
    expect(await callFromPage(open.url)).toEqual([401, '*'])
    const person = await signIn(patchbay.origin, owner.email)
    const { html } = await person.get(`/servers/${open.serverId}/settings`)
    expect(html).toContain('Pages of any website may call this server, because they need a token for it.')
    expect(html).not.toMatch(CHOICE)
  })

  it('has no effect on loopback, and the page says so', async () => {
    const owner = await local.person()
    const { serverId, url } = await makeServer(owner, [], { server: { allowAnyOrigin: true } })
    expect(await callFromPage(url)).toEqual([403, null])
    const person = createPageBrowser(local.origin)
    await person.submit('/sign-in', { email: owner.email, password: 'correct horse battery staple' })
    const { html } = await person.get(`/servers/${serverId}/settings`)
    expect(html).toContain('This has no effect at the moment: Patchbay’s address is local')
  })
})
