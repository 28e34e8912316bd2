import { describe, expect, it, vi } from 'vitest'
import { knock } from '../mcp/messages.ts'
import { signUp } from '../support/api-client.ts'
import { createPageBrowser, inputsOf } from '../support/page-browser.ts'
import { runPatchbay, runUser } from '../support/world.ts'
import { insertGrant, insertToken } from './support/tokens.ts'

vi.setConfig({ testTimeout: 30_000 })

const PASSWORD = 'correct horse battery staple'
const HOSTILE = '<script>alert(1)</script>'

describe('the access page of a server', () => {
  const patchbay = runPatchbay()
  const owner = runUser(patchbay)

  const make = async (access = 'private') => {
    const { id } = await owner.create('/servers', { name: HOSTILE, access })
    return { serverId: id, path: `/servers/${id}/access` }
  }
  const signIn = async ({ email }: { email: string } = owner) => {
    const person = createPageBrowser(patchbay.origin)
    await person.submit('/sign-in', { email, password: PASSWORD })
    await person.get('/account')
    return person
  }
  const join = async (serverId: string, role: 'viewer' | 'builder' | 'admin') => {
    const { db } = patchbay.services
    const { organizationId } = await db.server.findUniqueOrThrow({ where: { id: serverId } })
    const member = await signUp(patchbay.origin)
    await db.membership.create({ data: { organizationId, userId: member.userId, role } })
    return member
  }
  const statusAt = (serverId: string, token?: string) => knock(`${patchbay.origin}/s/${serverId}`, token)

  it('changes the tier for every client at once, and explains each tier', async () => {
    const { serverId, path } = await make()
    const person = await signIn()
    const { html } = await person.get(path)
    for (const words of [
      'without signing in',
      'Members of the organization.',
      'The owner, the users they allow, and admins',
    ]) {
      expect(html).toContain(words)
    }
    expect(html).not.toContain('<script>alert')
    expect(await statusAt(serverId)).toBe(401)
    const asked = await person.submit(`${path}/tier`, { access: 'public' })
    expect(asked.status).toBe(200)
    expect(asked.html).toContain('Nothing has been saved yet.')
    expect(asked.html).not.toContain('<script>alert')
    expect(await statusAt(serverId)).toBe(401)
    const back = await person.submit(`${path}/tier`, { access: 'public', step: 'back' })
    expect([back.location, await statusAt(serverId)]).toEqual([path, 401])
    const sure = inputsOf(asked.html).get('sure') ?? ''
    const done = await person.submit(`${path}/tier`, { access: 'public', sure })
    expect(done).toMatchObject({ status: 303, location: `${path}?done=tier` })
    expect(await statusAt(serverId)).toBe(200)
    const odd = await person.submit(`${path}/tier`, { access: 'everybody' })
    expect(odd.status).toBe(400)
    expect(odd.html).toContain('The tier must be public, organization or private.')
  })

  it('adds and removes users by email address, and shows errors next to the field', async () => {
    const { serverId, path } = await make()
    const friend = await signUp(patchbay.origin)
    const person = await signIn()
    expect(await statusAt(serverId, friend.token)).toBe(403)
    for (const [email, said] of [
      ['', 'The email is empty.'],
      ['nobody@example.com', 'The email does not match the email address of a user.'],
      [owner.email, 'The email belongs to the owner, who can already use the server.'],
      [HOSTILE, 'The email does not match the email address of a user.'],
    ] as const) {
      const refused = await person.submit(`${path}/people`, { email })
      expect(refused.status).toBe(400)
      expect(refused.html).toContain(said)
      expect(refused.html).not.toContain('<script>alert')
    }
    expect((await person.submit(`${path}/people`, { email: ` ${friend.email.toUpperCase()} ` })).status).toBe(303)
    expect(await statusAt(serverId, friend.token)).toBe(200)
    expect((await person.get(path)).html).toContain(`<span>${friend.email}</span>`)
    const again = await person.submit(`${path}/people`, { email: friend.email })
    expect(again.html).toContain('The email is already on the list.')
    expect((await person.submit(`${path}/people/${friend.userId}/removal`, {})).status).toBe(303)
    expect(await statusAt(serverId, friend.token)).toBe(403)
    const { db } = patchbay.services
    const entries = await db.auditEntry.findMany({ where: { targetId: serverId, action: 'server.access_changed' } })
    expect(entries).toHaveLength(2)
  })

  it('keeps all users that are added at the same time', async () => {
    const { serverId, path } = await make()
    const friends = await Promise.all(Array.from({ length: 5 }, () => signUp(patchbay.origin)))
    const person = await signIn()
    await Promise.all(friends.map(({ email }) => person.submit(`${path}/people`, { email })))
    const { body } = await owner.send('GET', `/servers/${serverId}`)
    expect(body).toMatchObject({ allowedUsers: expect.arrayContaining(friends.map(({ userId }) => userId)) })
  })

  it('shows which client acts on behalf of which user, and revokes that', async () => {
    const { serverId, path } = await make('organization')
    const { origin, services } = patchbay
    const { token, grantId } = await insertToken(services, {
      origin,
      userId: owner.userId,
      serverId,
      clientId: `https://app.example.com/${HOSTILE}`,
    })
    const person = await signIn()
    const { html } = await person.get(path)
    expect(html).toContain('app.example.com')
    expect(html).toContain(`${owner.email} (you)`)
    expect(html).toContain('Call all tools as you')
    expect(html).toContain('never')
    expect(html).not.toContain('<script>alert')
    expect(await statusAt(serverId, token)).toBe(200)
    expect((await person.submit(`${path}/grants/${grantId}/removal`, {})).status).toBe(303)
    expect(await statusAt(serverId, token)).toBe(401)
    expect((await person.get(path)).html).toContain('No client has signed in with OAuth yet.')
  })

  it('shows fifty clients at a time', async () => {
    const { serverId, path } = await make('organization')
    const { origin, services } = patchbay
    for (let count = 0; count < 51; count++) {
      await insertGrant(services, { origin, userId: owner.userId, serverId, clientId: `client-${count}` })
    }
    const person = await signIn()
    const first = await person.get(path)
    const [, next = ''] = /<a href="([^"]*)">Show more/.exec(first.html) ?? []
    expect(first.html.match(/\/removal"/g)).toHaveLength(50)
    expect((await person.get(next.replaceAll('&amp;', '&'))).html.match(/\/removal"/g)).toHaveLength(1)
  })

  it('creates an OAuth client, shows its secret once, and removes it when its name is confirmed', async () => {
    const { path } = await make()
    const person = await signIn()
    const wrong = await person.submit(`${path}/clients`, {
      name: '',
      redirectUris: 'https://good.example.com/back\nhttp://bad.example.com/back',
      tokenEndpointAuthMethod: 'client_secret_basic',
    })
    expect(wrong.status).toBe(400)
    expect(wrong.html).toContain('The name is empty.')
    expect(wrong.html).toContain('http://bad.example.com/back</textarea>')
    const unsafe = await person.submit(`${path}/clients`, {
      name: 'x',
      redirectUris: 'https://good.example.com/back\n\nhttp://bad.example.com/back',
      tokenEndpointAuthMethod: 'none',
    })
    expect(unsafe.html).toContain('The redirect URI in line 2 ')
    const made = await person.submit(`${path}/clients`, {
      name: `Night <b>batch</b>`,
      redirectUris: 'https://good.example.com/back',
      tokenEndpointAuthMethod: 'client_secret_basic',
    })
    expect(made.status).toBe(201)
    expect(made.headers.get('cache-control')).toBe('no-store')
    const [, secret = ''] = /Copy the client secret" value="([^"]+)"/.exec(made.html) ?? []
    expect(secret).toHaveLength(43)
    const { html } = await person.get(path)
    expect(html).toContain('Night &lt;b&gt;batch&lt;/b&gt;')
    expect(html).toContain('<td data-label="Secret">set</td>')
    expect(html).not.toContain(secret)
    const [, removal = ''] = /href="([^"]*\/clients\/[^"]*\/removal)"/.exec(html) ?? []
    expect((await person.get(removal)).html).toContain('immediately loses access to every server')
    const other = await person.submit(removal, { sure: 'Day batch' })
    expect(other.status).toBe(400)
    expect((await person.submit(removal, { sure: 'Night <b>batch</b>' })).status).toBe(303)
    expect((await person.get(path)).html).not.toContain('Night &lt;b&gt;')
  })

  it('shows and allows what the role permits, and is hidden from everybody else', async () => {
    const { serverId, path } = await make('organization')
    const { origin, services } = patchbay
    const [viewer, builder] = [await join(serverId, 'viewer'), await join(serverId, 'builder')]
    const stranger = await signUp(origin)
    const grantId = await insertGrant(services, { origin, userId: owner.userId, serverId })
    const [seeing, building, foreign] = [await signIn(viewer), await signIn(builder), await signIn(stranger)]
    const seen = (await seeing.get(path)).html
    expect(seen).not.toContain(owner.email)
    expect(seen).not.toContain('Change tier')
    const built = (await building.get(path)).html
    expect(built).toContain(owner.email)
    expect(built).not.toContain(`${grantId}/removal`)
    expect(built).not.toContain('OAuth clients')
    for (const [rest, fields] of [
      ['/tier', { access: 'public' }],
      ['/people', { email: stranger.email }],
      [`/people/${viewer.userId}/removal`, {}],
      [`/grants/${grantId}/removal`, {}],
      ['/clients', { name: 'x', redirectUris: 'https://app.example.com/', tokenEndpointAuthMethod: 'none' }],
    ] as const) {
      expect([rest, (await seeing.submit(`${path}${rest}`, fields)).status]).toEqual([rest, 403])
      expect([rest, (await building.submit(`${path}${rest}`, fields)).status]).toEqual([rest, 403])
      expect([rest, (await foreign.submit(`${path}${rest}`, fields)).status]).toEqual([rest, 404])
      expect([rest, (await building.submit(`${path}${rest}`, { ...fields, _csrf: 'x' })).status]).toEqual([rest, 403])
    }
    expect((await foreign.get(path)).status).toBe(404)
    expect((await owner.send('GET', `/servers/${serverId}`)).body).toMatchObject({ access: 'organization' })
    expect((await owner.send('GET', `/servers/${serverId}/grants`)).body).toMatchObject({ items: [{ id: grantId }] })
  })
})
