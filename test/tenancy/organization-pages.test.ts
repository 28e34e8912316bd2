import { describe, expect, it, vi } from 'vitest'
import { databasesOfRun } from '../support/databases.ts'
import { inputsOf } from '../support/page-browser.ts'
import { signInToPages, textOf } from '../support/signed-in.ts'
import { organizationsOf, type Person, runPatchbay } from '../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const HOSTILE = `"><script>alert(1)</script>`

const pagesOf = (world: { origin: string }, { email }: Person) => signInToPages(world.origin, email)

describe.each(databasesOfRun)('the pages of organizations on $kind', kind => {
  const world = runPatchbay({ kind, hasMail: true })

  it('redirect a member of one organization to it, and list several', async () => {
    const ada = await world.person()
    const browser = await pagesOf(world, ada)
    const path = `/organizations/${ada.organizationId}`
    expect(await browser.get('/organizations')).toMatchObject({ status: 303, location: `${path}/members` })
    expect(await browser.get(path)).toMatchObject({ status: 303, location: `${path}/members` })
    await browser.get('/organizations/new')
    const made = await browser.submit('/organizations/new', { name: `Second ${HOSTILE}` })
    expect(made.status).toBe(303)
    const { html } = await browser.get(made.location ?? '')
    expect(html).toContain('Organization created.')
    expect(html).not.toContain('<script>alert')
    const listed = await browser.get('/organizations')
    expect(listed.html).toContain('Second &quot;&gt;&lt;script&gt;')
    expect((await organizationsOf(ada)).map(({ role }) => role)).toEqual(['owner', 'owner'])
  })

  it('show an error for an invalid name, and keep the input', async () => {
    const browser = await pagesOf(world, await world.person())
    await browser.get('/organizations/new')
    const empty = await browser.submit('/organizations/new', { name: '  ' })
    expect(empty.status).toBe(400)
    expect(empty.html).toContain('The name is empty.')
    const turned = await browser.submit('/organizations/new', { name: 'abc\u202e' })
    expect(turned.html).toContain('The name contains characters that change the direction of text.')
    expect(inputsOf(turned.html).get('name')).toBe('abc\u202e')
  })

  it('tell users without an organization what to do', async () => {
    const ada = await world.person()
    await world.db.organization.delete({ where: { id: ada.organizationId } })
    const { status, html } = await (await pagesOf(world, ada)).get('/organizations')
    expect(status).toBe(200)
    expect(html).toContain('You are not in an organization')
    expect(html).toContain('href="/organizations/new"')
  })

  it('change a role, and explain that the last owner cannot step down', async () => {
    const ada = await world.person()
    const bob = await world.member(ada.organizationId, 'viewer')
    const browser = await pagesOf(world, ada)
    const path = `/organizations/${ada.organizationId}/members`
    expect((await browser.get(path)).html).toContain(bob.email)
    const changed = await browser.submit(`${path}/${bob.userId}/role`, { role: 'admin' })
    expect(changed).toMatchObject({ status: 303, location: `${path}?done=role` })
    expect((await organizationsOf(bob)).find(({ id }) => id === ada.organizationId)?.role).toBe('admin')
    await browser.get(path)
    const last = await browser.submit(`${path}/${ada.userId}/role`, { role: 'viewer' })
    expect(last.status).toBe(409)
    expect(last.html).toContain('This is the last owner of the organization')
    expect((await browser.submit(`${path}/${bob.userId}/role`, { role: 'king' })).status).toBe(400)
    const left = await browser.submit(`${path}/${ada.userId}/removal`, {})
    expect(left.status).toBe(409)
  })

  it('show each role only the buttons that it may use', async () => {
    const ada = await world.person()
    const viewer = await world.member(ada.organizationId, 'viewer')
    const admin = await world.member(ada.organizationId, 'admin')
    const path = `/organizations/${ada.organizationId}`
    const weak = await pagesOf(world, viewer)
    const { html } = await weak.get(`${path}/members`)
    expect(html).not.toContain('name="role"')
    expect([...html.matchAll(/href="([^"]*\/removal)"/g)].map(([, href]) => href)).toEqual([
      `${path}/members/${viewer.userId}/removal`,
    ])
    for (const tab of ['invitations', 'audit', 'settings']) {
      expect(html).not.toContain(`href="${path}/${tab}"`)
      expect((await weak.get(`${path}/${tab}`)).status).toBe(403)
    }
    expect((await weak.get(`${path}/usage`)).status).toBe(200)
    expect((await weak.get(`${path}/removal`)).status).toBe(403)

    const strong = await pagesOf(world, admin)
    const seen = (await strong.get(`${path}/members`)).html
    expect(seen).not.toContain(`${path}/members/${ada.userId}/removal`)
    expect(seen).not.toContain('<option value="owner"')
    expect((await strong.get(`${path}/settings`)).html).not.toContain('Transfer ownership')
    expect((await strong.get(`${path}/members/${ada.userId}/removal`)).status).toBe(403)
  })

  it('are hidden from users outside the organization', async () => {
    const ada = await world.person()
    const browser = await pagesOf(world, await world.person())
    const path = `/organizations/${ada.organizationId}`
    for (const page of ['', '/members', '/invitations', '/usage', '/audit', '/settings', '/removal']) {
      expect([page, (await browser.get(`${path}${page}`)).status]).toEqual([page, 404])
    }
    expect((await browser.get(`${path}/members/${ada.userId}/removal`)).status).toBe(404)
  })

  it('remove a member after a preview, and transfer their servers to the chosen member', async () => {
    const ada = await world.person()
    const bob = await world.member(ada.organizationId, 'builder')
    const carl = await world.member(ada.organizationId, 'builder')
    const server = await bob.create('/servers', { name: 'Desk of bob', organizationId: ada.organizationId })
    const browser = await pagesOf(world, ada)
    const path = `/organizations/${ada.organizationId}/members/${bob.userId}/removal`
    const { html } = await browser.get(path)
    expect(html).toContain('Desk of bob')
    expect(html).toContain(`value="${ada.userId}" selected`)
    expect((await browser.submit(path, { serversTo: bob.userId })).status).toBe(400)
    expect((await browser.submit(path, { serversTo: carl.userId })).status).toBe(303)
    expect(await world.db.server.findUniqueOrThrow({ where: { id: server.id } })).toMatchObject({
      ownerId: carl.userId,
    })
    expect((await organizationsOf(bob)).map(({ id }) => id)).not.toContain(ada.organizationId)
    expect((await browser.get(path)).status).toBe(404)
  })

  it('let a member leave', async () => {
    const ada = await world.person()
    const bob = await world.member(ada.organizationId, 'viewer')
    const browser = await pagesOf(world, bob)
    const path = `/organizations/${ada.organizationId}/members/${bob.userId}/removal`
    expect((await browser.get(path)).html).toContain('Leave')
    expect(await browser.submit(path, {})).toMatchObject({ status: 303, location: '/organizations?done=left' })
    expect((await browser.get(`/organizations/${ada.organizationId}/members`)).status).toBe(404)
  })

  it('transfer an organization: one member becomes owner and the other admin, or neither changes', async () => {
    const ada = await world.person()
    const bob = await world.member(ada.organizationId, 'viewer')
    const stranger = await world.person()
    const browser = await pagesOf(world, ada)
    const path = `/organizations/${ada.organizationId}`
    await browser.get(`${path}/settings`)
    for (const userId of [ada.userId, stranger.userId, 'nobody']) {
      expect([userId, (await browser.submit(`${path}/owner`, { userId })).status]).toEqual([userId, 400])
    }
    const done = await browser.submit(`${path}/owner`, { userId: bob.userId })
    expect(done).toMatchObject({ status: 303, location: `${path}/members?done=given` })
    const roleOf = async (one: Person) => (await organizationsOf(one)).find(({ id }) => id === ada.organizationId)?.role
    expect([await roleOf(ada), await roleOf(bob)]).toEqual(['admin', 'owner'])
    expect((await world.auditOf(ada.organizationId)).slice(-2)).toEqual(['member.role_changed', 'member.role_changed'])
    await browser.get(`${path}/settings`)
    expect((await browser.submit(`${path}/owner`, { userId: ada.userId })).status).toBe(403)
  })

  it('send an invitation, resend it with a new link, and withdraw it', async () => {
    const ada = await world.person()
    const browser = await pagesOf(world, ada)
    const path = `/organizations/${ada.organizationId}/invitations`
    expect((await browser.get(path)).html).toContain('No pending invitations')
    const email = `new-${ada.userId}@example.com`
    const wrong = await browser.submit(path, { email: HOSTILE, role: 'viewer' })
    expect(wrong.status).toBe(400)
    expect(wrong.html).toMatch(/id="email-error">.*The email must have the form name@example\.com\./)
    expect(wrong.html).not.toContain('<script>alert')
    expect((await browser.submit(path, { email, role: 'viewer' })).location).toBe(`${path}?done=sent`)
    const first = world.linkTo(email)
    const { html } = await browser.get(`${path}?done=sent`)
    expect(html).toContain('Invitation sent.')
    expect(html).not.toContain(first)
    expect(html).not.toContain('outbox')
    const [, id = ''] = /invitations\/([0-9a-f-]{36})\/renewal/.exec(html) ?? []
    expect((await browser.submit(`${path}/${id}/renewal`, {})).status).toBe(303)
    const second = world.linkTo(email)
    expect(second).not.toBe(first)
    const stranger = await pagesOf(world, await world.person())
    expect((await stranger.get(`/invitation?token=${first}`)).status).toBe(404)
    expect((await stranger.get(`/invitation?token=${second}`)).status).toBe(200)
    await browser.get(path)
    expect((await browser.submit(`${path}/${id}/removal`, {})).status).toBe(303)
    expect((await stranger.get(`/invitation?token=${second}`)).status).toBe(404)
    await browser.get(path)
    expect((await browser.submit(`${path}/${id}/renewal`, {})).status).toBe(404)
  })

  it('show the audit log with filters, and offer it as a file', async () => {
    const ada = await world.person()
    const bob = await world.member(ada.organizationId, 'admin')
    await ada.create('/toolkits', { title: HOSTILE, organizationId: ada.organizationId })
    await bob.expectOk('PATCH', `/organizations/${ada.organizationId}`, { name: 'Renamed' })
    const browser = await pagesOf(world, ada)
    const path = `/organizations/${ada.organizationId}/audit`
    const all = await browser.get(path)
    expect(textOf(all.html)).toMatch(/Organization renamed.*name: .* → Renamed.*Toolkit created/)
    expect(all.html).not.toContain('<script>alert')
    for (const kind of ['toolkit.', 'limit.', 'webhook.']) expect(all.html).toContain(`<option value="${kind}"`)
    const kind = textOf((await browser.get(`${path}?action=toolkit.`)).html)
    expect(kind).toContain('Toolkit created')
    expect(kind).not.toContain('Organization renamed')
    const byBob = textOf((await browser.get(`${path}?actorId=${bob.userId}`)).html)
    expect(byBob).toContain('Organization renamed')
    expect(byBob).not.toContain('Toolkit created')
    // The end date is inclusive.
    const today = new Date().toISOString().slice(0, 10)
    expect(textOf((await browser.get(`${path}?from=${today}&to=${today}`)).html)).toContain('Toolkit created')
    expect(textOf((await browser.get(`${path}?to=2020-01-01`)).html)).toContain('No entries match.')
    const bad = await browser.get(`${path}?from=yesterday&action=nonsense`)
    expect(bad.status).toBe(400)
    expect(bad.html).toContain('yesterday')
    expect(bad.html).toMatch(/id="from-error">.*Enter a date such as/)

    const href = /href="(\/api\/v1\/[^"]*format=ndjson[^"]*)"/.exec(
      (await browser.get(`${path}?action=toolkit.`)).html,
    )?.[1]
    const file = await browser.get(href?.replaceAll('&amp;', '&') ?? '')
    expect(file.headers.get('content-type')).toContain('application/x-ndjson')
    expect(
      file.html
        .trim()
        .split('\n')
        .map(line => JSON.parse(line).action),
    ).toEqual(['toolkit.created'])
  })

  it('page through a long log without losing or repeating an entry', async () => {
    const ada = await world.person()
    const before = await world.db.auditEntry.count({ where: { organizationId: ada.organizationId } })
    await world.db.auditEntry.createMany({
      data: Array.from({ length: 120 - before }, (_, index) => ({
        organizationId: ada.organizationId,
        action: 'toolkit.created',
        targetType: 'toolkit',
        targetName: `entry-${index}`,
      })),
    })
    const browser = await pagesOf(world, ada)
    const rows: string[] = []
    for (let path: string | undefined = `/organizations/${ada.organizationId}/audit`; path !== undefined; ) {
      const { html } = await browser.get(path)
      rows.push(...[...html.matchAll(/<tr><th scope="row"><time.*?<\/tr>/gs)].map(([row]) => row))
      path = /rel="next" href="([^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
    }
    expect(rows).toHaveLength(120)
    expect(new Set(rows.flatMap(row => /entry-\d+/.exec(row)?.[0] ?? [])).size).toBe(120 - before)
  })

  it('rename an organization, and delete it after its name is typed, unless it is the only one', async () => {
    const ada = await world.person()
    const browser = await pagesOf(world, ada)
    const path = `/organizations/${ada.organizationId}`
    await browser.get(`${path}/settings`)
    const refused = await browser.submit(`${path}/settings`, { name: 'x'.repeat(101) })
    expect(refused.html).toContain('The name is longer than 100 characters.')
    expect(inputsOf(refused.html).get('name')).toBe('x'.repeat(101))
    expect((await browser.submit(`${path}/settings`, { name: 'Kestrel <i>' })).status).toBe(303)
    const only = await browser.get(`${path}/removal`)
    expect(only.html).toContain('This is your only organization')
    expect(only.html).not.toContain('name="sure"')
    await ada.create('/organizations', { name: 'Other' })
    await ada.create('/servers', { name: 'Goes along', organizationId: ada.organizationId })
    expect(textOf((await browser.get(`${path}/removal`)).html)).toContain('This immediately stops and deletes 1 server')
    const wrong = await browser.submit(`${path}/removal`, { sure: 'kestrel' })
    expect(wrong.status).toBe(400)
    expect(wrong.html).toMatch(/id="sure-error"/)
    expect((await browser.submit(`${path}/removal`, { sure: 'Kestrel <i>' })).location).toBe(
      '/organizations?done=removed',
    )
    expect((await browser.get(path)).status).toBe(404)
  })
})

describe('the pages of organizations without a mail server', () => {
  const world = runPatchbay({ hasMail: true, env: { SMTP_URL: '' } })

  it('say where the email was saved, without showing its link', async () => {
    const ada = await world.person()
    const browser = await pagesOf(world, ada)
    const path = `/organizations/${ada.organizationId}/invitations`
    expect((await browser.get(path)).html).toContain('Email is not set up')
    await browser.submit(path, { email: 'new@example.com', role: 'viewer' })
    const { html } = await browser.get(`${path}?done=sent`)
    expect(html).toContain('was saved to the outbox/ folder')
    expect(html).not.toContain('token=')
  })
})

describe('the organization pages with PATCHBAY_TENANCY=single', () => {
  const world = runPatchbay({ hasMail: true, env: { PATCHBAY_TENANCY: 'single' } })

  it('neither create another organization nor delete the only one', async () => {
    const ada = await world.person()
    const browser = await pagesOf(world, ada)
    const path = `/organizations/${ada.organizationId}`
    expect((await browser.get(`${path}/settings`)).html).not.toContain('href="/organizations/new"')
    expect((await browser.get('/organizations/new')).html).not.toContain('name="name"')
    expect((await browser.submit('/organizations/new', { name: 'Another' })).status).toBe(403)
    const { html } = await browser.get(`${path}/removal`)
    expect(html).toContain('PATCHBAY_TENANCY=single')
    expect(html).not.toContain('name="sure"')
    const name = (await organizationsOf(ada))[0]?.name ?? ''
    expect((await browser.submit(`${path}/removal`, { sure: name })).status).toBe(403)
  })
})
