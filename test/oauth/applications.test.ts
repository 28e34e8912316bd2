import { describe, expect, it } from 'vitest'
import { knock } from '../mcp/messages.ts'
import { connect, makeRequest, openConsent, registerClient } from './support/client.ts'
import { insertGrant } from './support/tokens.ts'
import { fieldsOf } from './support/visitor.ts'
import { runOAuthWorld } from './support/world.ts'

const PATH = '/account/applications'

const world = runOAuthWorld()

const connectAs = async (client_name: string, url: string, scope?: string) => {
  const { client_id } = await registerClient(world.origin, { client_name })
  return connect(world.visitor, world.origin, makeRequest(client_id, url, { scope }))
}

describe('the page of connected applications', () => {
  it('is linked from the account page and the consent page', async () => {
    const { client_id } = await registerClient(world.origin)
    const consent = await openConsent(world.visitor, world.origin, makeRequest(client_id, world.serverUrl))
    for (const page of [consent, await world.visitor.get('/account')]) {
      expect(page.text).toContain(`<a href="${PATH}"`)
    }
  })

  it('shows which application may do what on which server, since when, and its last use', async () => {
    const url = await world.makeServer({ name: 'Night desk' })
    const { access_token } = await connectAs('<b>Reader</b>', url, 'mcp:read')
    const before = await world.visitor.get(PATH)
    expect(before.text).toContain('never used')
    expect(await knock(url, access_token)).toBe(200)
    const { db } = world.services
    await expect.poll(() => db.oAuthArtifact.count({ where: { kind: 'Grant', lastUsedAt: { not: null } } })).toBe(1)
    const { status, text } = await world.visitor.get(PATH)
    expect(status).toBe(200)
    expect(text).toContain('&lt;b&gt;Reader&lt;/b&gt;')
    expect(text).toContain('Night desk')
    expect(text).toContain(url)
    expect(text).toContain('List tools and call read-only tools')
    expect(text).not.toContain('Call all tools as you')
    expect(text.replaceAll(/<\/?time[^>]*>/g, '')).toMatch(
      /connected \d{4}-\d\d-\d\d \d\d:\d\d UTC, last used \d{4}-\d\d-\d\d \d\d:\d\d UTC/,
    )
  })

  it('revokes one application and leaves the others', async () => {
    const url = await world.makeServer({ name: 'Kept desk' })
    const kept = await connectAs('Kept', url)
    const left = await world.makeServer({ name: 'Left desk' })
    const gone = await connectAs('Gone', left)
    expect(await knock(left, gone.access_token)).toBe(200)
    const page = await world.visitor.get(PATH)
    const [, id = ''] = /applications\/([0-9a-f-]{36})\/removal(?:(?!<\/form>).)*<b>Gone<\/b>/s.exec(page.text) ?? []
    const { action, fields } = fieldsOf(page, `${id}/removal`)
    expect((await world.visitor.post(action, { ...fields, _csrf: 'x' })).status).toBe(403)
    const after = await world.visitor.post(action, fields)
    expect(after.text).toContain('Access revoked')
    expect(after.text).not.toContain('<b>Gone</b>')
    expect(after.text).toContain('<b>Kept</b>')
    expect(await knock(url, kept.access_token)).toBe(200)
    expect(await knock(left, gone.access_token)).toBe(401)
    const entry = await world.services.db.auditEntry.findFirst({
      where: { targetId: id },
      orderBy: { id: 'desc' },
    })
    expect(entry).toMatchObject({ action: 'grant.removed', actorId: world.owner.userId, targetName: 'Gone' })
  })

  it("shows one page at a time, and only the user's own", async () => {
    const guest = await world.visit('many@example.com')
    const { db } = world.services
    const { id: userId } = await db.user.findFirstOrThrow({ where: { email: 'many@example.com' } })
    const serverId = world.serverUrl.split('/').at(-1) ?? ''
    for (let count = 0; count < 51; count++) {
      const { client_id } = await registerClient(world.origin, { client_name: `App ${count}` })
      await insertGrant(world.services, { origin: world.origin, userId, serverId, clientId: client_id })
    }
    const first = await guest.get(PATH)
    const [, next = ''] = /<a href="([^"]*)">Show more/.exec(first.text) ?? []
    const second = await guest.get(next)
    const shown = [first, second].map(({ text }) => [...text.matchAll(/<b>(App \d+)<\/b>/g)].map(([, name]) => name))
    expect(shown.map(({ length }) => length)).toEqual([50, 1])
    expect(new Set(shown.flat()).size).toBe(51)
    // The name of another user's private server stays hidden.
    expect(first.text).not.toContain('Shipment desk')
    expect(first.text).toContain('a server you can no longer use')
    expect((await guest.get(`${PATH}?cursor=nonsense`)).status).toBe(400)
  })
})
