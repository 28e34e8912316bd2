import { describe, expect, it, vi } from 'vitest'
import { INITIALIZE, postTo } from '../mcp/messages.ts'
import { passTo, sendRaw, startUpstream } from '../passthrough/support.ts'
import { makeServer } from '../support/api-client.ts'
import { createPageBrowser } from '../support/page-browser.ts'
import { runPatchbay } from '../support/world.ts'

vi.setConfig({ testTimeout: 30_000 })

const BASE_URL = 'http://patchbay.example'
const CHOICE = /<input type="checkbox" name="allowAnyOrigin"( checked)?>/

/** The form with the switch turned on. */
const ANY_ORIGIN = { allowAnyOrigin: 'on', switches: 'allowAnyOrigin' }

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
    const saved = await person.submit(path, ANY_ORIGIN, { origin: BASE_URL })
    expect(saved).toMatchObject({ status: 303, location: `${path}?done=saved` })
    expect(await callFromPage(url)).toEqual([200, '*'])
    const { html } = await person.get(`${path}?done=saved`)
    expect(html).toContain('Saved. Changes apply from the next call.')
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
    const change = { allowAnyOrigin: true }
    expect((await builder?.send('PATCH', `/servers/${serverId}`, { ...change, name: 'Renamed' }))?.status).toBe(403)
    const unchanged = { allowAnyOrigin: false, name: 'Renamed' }
    expect((await builder?.send('PATCH', `/servers/${serverId}`, unchanged))?.status).toBe(200)
    const path = `/servers/${serverId}/settings`
    const person = await signIn(patchbay.origin, builder?.email ?? '')
    const { html } = await person.get(path)
    expect(html).toContain('Other websites may not call this server. Only its owner and organization admins')
    expect(html).not.toMatch(CHOICE)
    expect((await person.submit(path, ANY_ORIGIN, { origin: BASE_URL })).status).toBe(403)
    expect(await admin?.send('PATCH', `/servers/${serverId}`, change)).toMatchObject({ status: 200, body: change })
  })

  it('can be set and audited when the server is created; servers that require a token allow it anyway', async () => {
    const owner = await patchbay.person()
    const open = await makeServer(owner, [], { server: { allowAnyOrigin: true } })
    expect(await callFromPage(open.url)).toEqual([200, '*'])
    const created = { action: 'server.created', targetId: open.serverId }
    const { change } = await patchbay.db.auditEntry.findFirstOrThrow({ where: created })
    expect(change).toMatchObject({ allowAnyOrigin: true })
    await owner.expectOk('PATCH', `/servers/${open.serverId}`, { access: 'private' })
    expect(await callFromPage(open.url)).toEqual([401, '*'])
    const person = await signIn(patchbay.origin, owner.email)
    const { html } = await person.get(`/servers/${open.serverId}/settings`)
    expect(html).toContain('Pages of any website may call this server, because they need a token for it.')
    expect(CHOICE.exec(html)?.[1]).toBeUndefined()
    // It ended when the server stopped being public.
    await owner.expectOk('PATCH', `/servers/${open.serverId}`, { access: 'public' })
    expect(await callFromPage(open.url)).toEqual([403, null])
    const ended = await patchbay.db.auditEntry.findMany({
      where: { action: 'server.origins_changed', targetId: open.serverId },
    })
    expect(ended).toMatchObject([{ change: { allowAnyOrigin: { from: true, to: false } } }])
  })

  it('does not let other websites open WebSockets of a server that requires a token without one', async () => {
    const upstream = await startUpstream()
    const owner = await patchbay.person()
    const { path } = await passTo(owner, `http://127.0.0.1:${upstream.port}/mcp`, { server: { access: 'private' } })
    const headers = [
      'Host: patchbay.example',
      'Origin: https://website.example',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ]
    const { status } = await sendRaw(patchbay.origin, `GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`)
    expect([status, upstream.seen]).toEqual([401, []])
  })

  it('decides whether other websites find the server in the list of servers', async () => {
    const owner = await patchbay.person()
    const [open, closed] = [
      await makeServer(owner, [], { server: { allowAnyOrigin: true } }),
      await makeServer(owner, []),
    ]
    const listFor = async (headers: Record<string, string>) => {
      const list = await (await fetch(`${patchbay.origin}/.well-known/mcp-servers`, { headers })).text()
      return [open, closed].map(({ serverId }) => list.includes(serverId))
    }
    expect(await listFor({})).toEqual([true, true])
    expect(await listFor({ origin: BASE_URL })).toEqual([true, true])
    const origin = 'https://website.example'
    expect(await listFor({ origin })).toEqual([true, false])
    expect(await listFor({ origin, authorization: 'Bearer invalid' })).toEqual([true, false])
    expect(await listFor({ origin, authorization: `Bearer ${owner.token}` })).toEqual([true, true])
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
