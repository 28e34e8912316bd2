import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { signUp } from '../support/api-client.ts'
import { type SignedInBrowser, signInToPages, textOf } from '../support/signed-in.ts'
import { runPatchbay, runUser } from '../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const Uses = z.object({ items: z.array(z.looseObject({ id: z.string() })) })
const TOOL = { name: 'track', description: 'Where it is', method: 'GET', url: 'https://api.example.com/track/{{id}}' }

describe('the gallery', () => {
  const patchbay = runPatchbay()
  let browser: SignedInBrowser
  let toolkitId: string
  const ada = runUser(patchbay)
  const bob = runUser(patchbay)
  beforeAll(async () => {
    browser = await signInToPages(patchbay.origin, bob.email)
    toolkitId = (await ada.create('/toolkits', { title: 'Carrier <b>API</b>', visibility: 'public' })).id
    await ada.create(`/toolkits/${toolkitId}/tools`, TOOL)
    await ada.create('/toolkits', { title: 'Hidden' })
  })

  it('shows and finds the public toolkits of all organizations, with their owners', async () => {
    const { html } = await browser.get('/gallery')
    expect(html).toContain('Carrier &lt;b&gt;API&lt;/b&gt;')
    expect(textOf(html)).toContain(`By ${ada.email.split('@')[0]}`)
    expect(html).not.toContain('Hidden')
    expect((await browser.get('/gallery?q=carrier')).html).toContain(`/gallery/${toolkitId}`)
    expect((await browser.get('/gallery?q=hidden')).html).toContain('No toolkits found')
  })

  it('shows the tools of a toolkit, but not who uses it', async () => {
    const server = await ada.create('/servers', { name: 'Server of ada' })
    await ada.expectOk('PUT', `/servers/${server.id}/toolkits/${toolkitId}`)
    const { html } = await browser.get(`/gallery/${toolkitId}`)
    expect(html).toContain('https://api.example.com/track/{{id}}')
    expect(html).not.toContain('Server of ada')
    expect((await browser.get(`/gallery/${toolkitId}?q=where`)).html).toContain('<code>track</code>')
    expect((await browser.get(`/gallery/${toolkitId}?q=zzz`)).html).toContain('No tool matches your search')
  })

  it('links to creating a server if the user has none', async () => {
    expect((await browser.get(`/gallery/${toolkitId}`)).html).toContain('href="/servers/new"')
  })

  it('adds a toolkit to the user’s server as a snapshot, and links to the next step', async () => {
    const server = await bob.create('/servers', { name: 'Desk & Co' })
    const path = `/gallery/${toolkitId}`
    expect((await browser.get(path)).html).toContain('Desk &amp; Co</option>')
    const done = await browser.submit(`${path}/use`, { serverId: server.id })
    expect(done).toMatchObject({ status: 303, location: `${path}?used=${server.id}` })
    expect((await browser.get(done.location ?? '')).html).toContain(`href="/servers/${server.id}/sources"`)
    const uses = Uses.parse((await bob.expectOk('GET', `/servers/${server.id}/toolkits`)).body).items
    expect(uses).toEqual([expect.objectContaining({ id: toolkitId, snapshot: expect.anything() })])
    // Adding the toolkit again changes nothing.
    expect((await browser.submit(`${path}/use`, { serverId: server.id })).status).toBe(303)
  })

  it('rejects servers of other users and unknown ones', async () => {
    const foreign = await ada.create('/servers', { name: 'Not yours' })
    await browser.get(`/gallery/${toolkitId}`)
    const refused = await browser.submit(`/gallery/${toolkitId}/use`, { serverId: foreign.id })
    expect(refused.status).toBe(404)
    expect(refused.html).not.toContain('Not yours')
    const none = await browser.submit(`/gallery/${toolkitId}/use`, { serverId: '<b>' })
    expect(none.status).toBe(400)
    expect(none.html).toContain('The server is not a UUID.')
    expect(Uses.parse((await ada.expectOk('GET', `/servers/${foreign.id}/toolkits`)).body).items).toEqual([])
  })

  it('offers no servers to viewers', async () => {
    const { db } = patchbay.services
    const { organizationId } = await db.server.findFirstOrThrow({ where: { name: 'Desk & Co' } })
    const eve = await signUp(patchbay.origin)
    await db.membership.create({ data: { organizationId, userId: eve.userId, role: 'viewer' } })
    const { html } = await (await signInToPages(patchbay.origin, eve.email)).get(`/gallery/${toolkitId}`)
    expect(html).not.toContain('Desk &amp; Co')
  })

  it('no longer shows a toolkit that has become private again', async () => {
    const { id } = await ada.create('/toolkits', { title: 'For a while', visibility: 'public' })
    expect((await browser.get(`/gallery/${id}`)).status).toBe(200)
    await ada.expectOk('PATCH', `/toolkits/${id}`, { visibility: 'private' })
    expect((await browser.get(`/gallery/${id}`)).status).toBe(404)
  })
})
