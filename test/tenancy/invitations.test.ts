import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createBrowser } from '../support/browser.ts'
import { databasesOfRun } from '../support/databases.ts'
import { organizationsOf, type Person, runPatchbay } from '../support/world.ts'

const PASSWORD = 'correct horse battery staple'

const pathOf = ({ organizationId }: Person): string => `/organizations/${organizationId}/invitations`
let addresses = 0
const newAddress = (): string => `invited${++addresses}@example.com`

describe.each(databasesOfRun)('an invitation on $kind', kind => {
  const world = runPatchbay({ kind, hasMail: true })

  it('is sent by email, and its link lets a signed-in user join once', async () => {
    const owner = await world.person()
    const guest = await world.person()
    const made = await owner.send('POST', pathOf(owner), { email: ` ${guest.email.toUpperCase()} `, role: 'viewer' })
    const token = world.linkTo(guest.email)
    expect(made).toMatchObject({
      status: 201,
      body: { email: guest.email, role: 'viewer', expiresAt: expect.any(String) },
    })
    expect(JSON.stringify(made.body)).not.toContain(token)
    const letter = world.smtp.received.findLast(({ to }) => to.includes(guest.email))
    expect(letter?.text).toContain(`${owner.email} has invited ${guest.email}`)
    expect(letter?.text).toContain(`${world.baseUrl}/invitation?token=${token}`)
    expect(JSON.stringify(await world.db.invitation.findMany())).not.toContain(token)
    expect((await owner.send('GET', pathOf(owner))).body).toMatchObject({ items: [{ email: guest.email }] })

    const answers = await Promise.all([1, 2, 3].map(() => guest.send('POST', '/invitations/accept', { token })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404])
    expect(answers.find(({ status }) => status === 200)?.body).toMatchObject({
      id: owner.organizationId,
      role: 'viewer',
    })
    expect(await organizationsOf(guest)).toContainEqual({
      id: owner.organizationId,
      name: expect.any(String),
      role: 'viewer',
    })
    expect(await world.db.user.findUnique({ where: { id: guest.userId } })).toMatchObject({
      emailVerifiedAt: expect.any(Date),
    })
    expect((await owner.send('GET', pathOf(owner))).body).toMatchObject({ items: [] })
    expect(await world.auditOf(owner.organizationId)).toEqual(
      expect.arrayContaining(['invitation.created', 'invitation.accepted', 'member.added']),
    )
  })

  it('works only for its email', async () => {
    const owner = await world.person()
    const [guest, other] = [await world.person(), await world.person()]
    await owner.expectOk('POST', pathOf(owner), { email: guest.email, role: 'admin' })
    const token = world.linkTo(guest.email)
    const refused = await other.send('POST', '/invitations/accept', { token })
    expect(refused).toMatchObject({ status: 403 })
    expect(JSON.stringify(refused.body)).not.toContain(guest.email)
    expect(await organizationsOf(other)).toHaveLength(1)
    expect((await guest.send('POST', '/invitations/accept', { token })).status).toBe(200)
  })

  it('stops working once another was sent, it was withdrawn, or seven days have passed', async () => {
    const owner = await world.person()
    const guest = await world.person()
    const invite = async () => {
      const { id } = await owner.create(pathOf(owner), { email: guest.email, role: 'viewer' })
      return { id, token: world.linkTo(guest.email) }
    }
    const accept = async (token: string) => (await guest.send('POST', '/invitations/accept', { token })).status
    const replaced = await invite()
    const withdrawn = await invite()
    expect(withdrawn.id).toBe(replaced.id)
    expect(await accept(replaced.token)).toBe(404)
    expect((await owner.send('DELETE', `${pathOf(owner)}/${withdrawn.id}`)).status).toBe(204)
    expect(await accept(withdrawn.token)).toBe(404)
    expect((await owner.send('DELETE', `${pathOf(owner)}/${withdrawn.id}`)).status).toBe(404)

    const late = await invite()
    const { expiresAt } = await world.db.invitation.findUniqueOrThrow({ where: { id: late.id } })
    const days = (expiresAt.getTime() - Date.now()) / (24 * 60 * 60 * 1_000)
    expect(Math.round(days)).toBe(7)
    await world.db.invitation.update({ where: { id: late.id }, data: { expiresAt: new Date(Date.now() - 1) } })
    expect(await accept(late.token)).toBe(404)
    expect((await owner.send('GET', pathOf(owner))).body).toMatchObject({ items: [] })
    expect(await organizationsOf(guest)).toHaveLength(1)
  })

  it('lets a new user sign up into its organization, without creating another one', async () => {
    const owner = await world.person()
    const email = newAddress()
    await owner.expectOk('POST', pathOf(owner), { email, role: 'builder' })
    const invitation = world.linkTo(email)
    const browser = createBrowser(world.origin)
    const other = { email: newAddress(), password: PASSWORD, invitation }
    expect((await browser.send('POST', '/signup', other)).status).toBe(403)
    expect((await browser.send('POST', '/signup', { ...other, email, invitation: 'a'.repeat(43) })).status).toBe(404)
    const answer = await browser.send('POST', '/signup', { email, password: PASSWORD, invitation })
    expect([answer.status, answer.json()]).toMatchObject([201, { email, emailVerifiedAt: expect.any(String) }])
    expect((await browser.send('GET', '/me')).json()).toMatchObject({
      organizations: [{ id: owner.organizationId, role: 'builder' }],
    })
    expect(await world.auditOf(owner.organizationId)).toEqual(
      expect.arrayContaining(['invitation.accepted', 'member.added']),
    )
    expect(
      (await createBrowser(world.origin).send('POST', '/signup', { email, password: PASSWORD, invitation })).status,
    ).toBe(404)
  })
})

describe('inviting', () => {
  const world = runPatchbay({ hasMail: true })

  it('gets the same response whether or not the email has an account', async () => {
    const owner = await world.person()
    const known = await world.person()
    const answers = []
    for (const email of [known.email, newAddress()]) {
      const { status, body } = await owner.send('POST', pathOf(owner), { email, role: 'viewer' })
      answers.push([status, Object.keys(body ?? {})])
    }
    expect(answers[0]).toEqual(answers[1])
  })

  it('is allowed for owners and admins, and only owners can invite owners', async () => {
    const owner = await world.person()
    const admin = await world.member(owner.organizationId, 'admin')
    const builder = await world.member(owner.organizationId, 'builder')
    const email = newAddress()
    expect((await builder.send('POST', pathOf(owner), { email, role: 'viewer' })).status).toBe(403)
    expect((await admin.send('POST', pathOf(owner), { email, role: 'owner' })).status).toBe(403)
    const { id } = await owner.create(pathOf(owner), { email, role: 'owner' })
    const link = world.linkTo(email)
    expect((await admin.send('POST', pathOf(owner), { email, role: 'viewer' })).status).toBe(403)
    expect((await admin.send('DELETE', `${pathOf(owner)}/${id}`)).status).toBe(403)
    expect(world.linkTo(email)).toBe(link)
    expect((await admin.send('POST', pathOf(owner), { email: newAddress(), role: 'admin' })).status).toBe(201)
  })

  it('a member, or with a missing email or role, is rejected', async () => {
    const owner = await world.person()
    const member = await world.member(owner.organizationId, 'viewer')
    expect(await owner.send('POST', pathOf(owner), { email: member.email, role: 'admin' })).toMatchObject({
      status: 409,
      body: { errors: [{ path: 'email' }] },
    })
    for (const [body, path] of [
      [{ email: 'nobody', role: 'viewer' }, 'email'],
      [{ email: 'a@example.com\r\nBcc: b@example.com', role: 'viewer' }, 'email'],
      [{ email: newAddress(), role: 'operator' }, 'role'],
      [{ email: newAddress() }, 'role'],
    ] as const) {
      expect(await owner.send('POST', pathOf(owner), body)).toMatchObject({ status: 400, body: { errors: [{ path }] } })
    }
  })

  it('more than a hundred at once, or one email too often, is rejected', async () => {
    const owner = await world.person()
    const email = newAddress()
    const again = async () => (await owner.send('POST', pathOf(owner), { email, role: 'viewer' })).status
    for (let count = 0; count < 5; count++) expect(await again()).toBe(201)
    expect(await again()).toBe(429)
    const { organizationId } = owner
    const expiresAt = new Date(Date.now() + 60_000)
    await world.db.invitation.createMany({
      data: Array.from({ length: 99 }, () => {
        const address = newAddress()
        return { organizationId, email: address, role: 'viewer' as const, tokenHash: address, expiresAt }
      }),
    })
    const answer = await owner.send('POST', pathOf(owner), { email: newAddress(), role: 'viewer' })
    expect(answer).toMatchObject({ status: 422, body: { detail: expect.stringContaining('100') } })
  })

  it('is limited per user across all their organizations', async () => {
    const owner = await world.person()
    const another = await owner.create('/organizations', { name: 'Another' })
    const invite = (id: string) =>
      owner.send('POST', `/organizations/${id}/invitations`, { email: newAddress(), role: 'viewer' })
    expect((await invite(owner.organizationId)).status).toBe(201)
    // Records the other 99 invitations directly, without sending emails.
    const key = `invitation-sender:${hash('sha256', owner.userId)}`
    expect((await world.db.counter.updateMany({ where: { key }, data: { points: 100 } })).count).toBe(1)
    expect((await invite(another.id)).status).toBe(429)
  })

  it('reports an email that the mail server rejects, and can be tried again', async () => {
    const owner = await world.person()
    const email = newAddress()
    world.smtp.refuse('451 not now')
    expect((await owner.send('POST', pathOf(owner), { email, role: 'viewer' })).status).toBe(503)
    world.smtp.refuse(undefined)
    expect((await owner.send('POST', pathOf(owner), { email, role: 'viewer' })).status).toBe(201)
    expect(world.linkTo(email)).toHaveLength(43)
  })
})

describe.each([
  ['invite', 201],
  ['closed', 403],
])('with PATCHBAY_SIGNUP=%s', (signup, status) => {
  const world = runPatchbay({ hasMail: true, env: { PATCHBAY_SIGNUP: signup } })

  it(`an invitation gets ${status}, and there is no other way to sign up`, async () => {
    const owner = await world.person()
    const email = newAddress()
    await owner.expectOk('POST', pathOf(owner), { email, role: 'viewer' })
    const attempt = async (input: object) =>
      (await createBrowser(world.origin).send('POST', '/signup', { email, password: PASSWORD, ...input })).status
    expect(await attempt({})).toBe(403)
    expect(await attempt({ invitation: 'a'.repeat(43) })).toBe(signup === 'invite' ? 404 : 403)
    expect(await attempt({ invitation: world.linkTo(email) })).toBe(status)
  })
})
