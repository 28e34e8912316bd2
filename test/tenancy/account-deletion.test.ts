import { describe, expect, it } from 'vitest'
import { knock } from '../mcp/messages.ts'

import { createBrowser } from '../support/browser.ts'
import { databasesOfRun } from '../support/databases.ts'
import { organizationsOf, type Person, runPatchbay } from '../support/world.ts'

const PASSWORD = 'correct horse battery staple'

describe.each(databasesOfRun)('deleting an account on $kind', kind => {
  const world = runPatchbay({ kind, hasMail: true })

  const deleteMe = (one: Person, organizations?: object, password = PASSWORD) =>
    one.send('DELETE', '/me', { password, ...(organizations && { organizations }) })
  const isThere = async ({ userId }: Person): Promise<boolean> =>
    (await world.db.user.findUnique({ where: { id: userId } })) !== null

  it('previews what the user owns and what would happen to it', async () => {
    await world.person()
    const [one, other] = [await world.person(), await world.person()]
    const heir = await world.member(one.organizationId, 'builder')
    await world.db.membership.create({
      data: { organizationId: other.organizationId, userId: one.userId, role: 'builder' },
    })
    const own = await one.create('/servers', { name: 'Own', organizationId: one.organizationId })
    const there = await one.create('/servers', { name: 'There', organizationId: other.organizationId })
    await one.create('/toolkits', { title: 'Tools', organizationId: one.organizationId })
    const { body } = await one.expectOk('GET', '/me/deletion')
    expect(body).toMatchObject({ hasPassword: true, refusal: null })
    expect(body).toHaveProperty(
      'organizations',
      expect.arrayContaining([
        {
          id: one.organizationId,
          name: expect.any(String),
          role: 'owner',
          mustDecide: true,
          otherMembers: [{ userId: heir.userId, email: heir.email, role: 'builder' }],
          servers: 1,
          toolkits: 1,
        },
        expect.objectContaining({ id: other.organizationId, role: 'builder', mustDecide: false }),
      ]),
    )
    expect(body).toHaveProperty(
      'servers',
      expect.arrayContaining([
        { id: own.id, name: 'Own', organizationId: one.organizationId, passesTo: null },
        {
          id: there.id,
          name: 'There',
          organizationId: other.organizationId,
          passesTo: { userId: other.userId, email: other.email, role: 'owner' },
        },
      ]),
    )
  })

  it('requires a decision about every solely owned organization, and the password', async () => {
    await world.person()
    const one = await world.person()
    const stranger = await world.person()
    const mine = one.organizationId
    expect((await deleteMe(one, { [mine]: 'remove' }, 'wrong password')).status).toBe(403)
    expect(await one.send('DELETE', '/me', {})).toMatchObject({ status: 400, body: { errors: [{ path: 'password' }] } })
    expect(await deleteMe(one)).toMatchObject({ status: 409, body: { errors: [{ path: `organizations.${mine}` }] } })
    for (const decision of [stranger.userId, one.userId]) {
      expect(await deleteMe(one, { [mine]: decision })).toMatchObject({
        status: 400,
        body: { errors: [{ path: `organizations.${mine}` }] },
      })
    }
    const foreign = { [mine]: 'remove', [stranger.organizationId]: 'remove' }
    expect(await deleteMe(one, foreign)).toMatchObject({
      status: 400,
      body: { errors: [{ path: `organizations.${stranger.organizationId}` }] },
    })
    expect((await deleteMe(one, { [mine]: 'burn' })).status).toBe(400)
    expect(await isThere(one)).toBe(true)
    expect(await organizationsOf(stranger)).toHaveLength(1)
  })

  it('ends all access of the account, transfers what remains, and keeps its audit entries', async () => {
    await world.person()
    const [one, other] = [await world.person(), await world.person()]
    const heir = await world.member(one.organizationId, 'viewer')
    await world.db.membership.create({
      data: { organizationId: other.organizationId, userId: one.userId, role: 'admin' },
    })
    const { id: doomed } = await one.create('/organizations', { name: 'Doomed' })
    const removed = await one.create('/servers', { name: 'Removed', access: 'public', organizationId: doomed })
    const kept = await one.create('/servers', { name: 'Kept', organizationId: one.organizationId })
    const there = await one.create('/servers', { name: 'There', organizationId: other.organizationId })
    expect(await knock(`${world.origin}/s/${kept.id}`, heir.token)).toBe(403)
    const browser = createBrowser(world.origin)
    await browser.signIn(one.email, PASSWORD)

    expect((await deleteMe(one, { [doomed]: 'remove', [one.organizationId]: heir.userId })).status).toBe(204)

    expect((await one.send('GET', '/me')).status).toBe(401)
    expect((await browser.send('GET', '/me')).status).toBe(401)
    expect((await createBrowser(world.origin).signIn(one.email, PASSWORD)).status).toBe(401)
    expect(await world.db.session.count({ where: { userId: one.userId } })).toBe(0)
    expect(await world.db.accessToken.count({ where: { userId: one.userId } })).toBe(0)
    expect(await knock(`${world.origin}/s/${removed.id}`, heir.token)).toBe(404)
    expect(await world.db.organization.count({ where: { id: doomed } })).toBe(0)
    expect(await organizationsOf(heir)).toContainEqual(
      expect.objectContaining({ id: one.organizationId, role: 'owner' }),
    )
    expect(await knock(`${world.origin}/s/${kept.id}`, heir.token)).toBe(200)
    expect((await other.expectOk('GET', `/servers/${there.id}`)).body).toMatchObject({ ownerId: other.userId })
    const entries = await world.db.auditEntry.findMany({ where: { actorId: one.userId } })
    const actions = entries.map(({ action }) => action)
    expect(actions).toEqual(
      expect.arrayContaining(['user.removed', 'organization.removed', 'member.removed', 'member.role_changed']),
    )
    expect(new Set(entries.map(({ actorEmail }) => actorEmail))).toEqual(new Set([one.email]))
    const again = await createBrowser(world.origin).signUp(one.email, PASSWORD)
    expect(again.status).toBe(201)
  })

  it('happens once if it is requested twice concurrently', async () => {
    await world.person()
    const one = await world.person()
    await world.member(one.organizationId, 'owner')
    const statuses = (await Promise.all([deleteMe(one), deleteMe(one)])).map(({ status }) => status)
    expect(statuses.sort()).toEqual([204, 401])
    expect(await world.db.auditEntry.count({ where: { action: 'user.removed', actorId: one.userId } })).toBe(1)
  })

  it('ends the session if the user is signed in with a cookie', async () => {
    await world.person()
    const one = await world.person()
    const browser = createBrowser(world.origin)
    await browser.signIn(one.email, PASSWORD)
    await browser.loadCsrfToken()
    const body = { password: PASSWORD, organizations: { [one.organizationId]: 'remove' } }
    expect((await browser.send('DELETE', '/me', body)).status).toBe(204)
    expect(browser.cookies.size).toBe(0)
    expect(await isThere(one)).toBe(false)
  })

  it('requires the email if the account has no password, and only in a session', async () => {
    await world.person()
    const one = await world.person()
    const browser = createBrowser(world.origin)
    await browser.signIn(one.email, PASSWORD)
    await browser.loadCsrfToken()
    await world.db.user.update({ where: { id: one.userId }, data: { passwordHash: '' } })
    const organizations = { [one.organizationId]: 'remove' }
    expect((await one.send('DELETE', '/me', { confirm: one.email, organizations })).status).toBe(403)
    const wrong = await browser.send('DELETE', '/me', { confirm: 'other@example.com', organizations })
    expect([wrong.status, wrong.json()]).toMatchObject([400, { errors: [{ path: 'confirm' }] }])
    expect((await browser.send('DELETE', '/me', { confirm: one.email, organizations })).status).toBe(204)
    expect(await isThere(one)).toBe(false)
  })
})

describe('the only operator', () => {
  const world = runPatchbay({ hasMail: true })

  it('cannot be deleted while there are other users, unless one of them is also an operator', async () => {
    const operator = await world.person()
    const other = await world.person()
    const body = { password: PASSWORD, organizations: { [operator.organizationId]: 'remove' } }
    const refused = await operator.send('DELETE', '/me', body)
    expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining('only operator') } })
    expect((await operator.expectOk('GET', '/me/deletion')).body).toMatchObject({
      refusal: expect.stringContaining('only operator'),
    })
    expect((await operator.send('GET', `/organizations/${operator.organizationId}`)).status).toBe(200)
    await world.db.user.update({ where: { id: other.userId }, data: { isOperator: true } })
    expect((await operator.send('DELETE', '/me', body)).status).toBe(204)
    // No other users remain.
    const last = { password: PASSWORD, organizations: { [other.organizationId]: 'remove' } }
    expect((await other.send('DELETE', '/me', last)).status).toBe(204)
    const first = await createBrowser(world.origin).signUp('new@example.com', PASSWORD)
    expect(first.json()).toMatchObject({ isOperator: true })
  })
})

describe('with PATCHBAY_TENANCY=single', () => {
  const world = runPatchbay({ hasMail: true, env: { PATCHBAY_TENANCY: 'single' } })

  it('the last owner must transfer the organization before deleting the account', async () => {
    const owner = await world.person()
    const heir = await world.person()
    await world.db.user.update({ where: { id: heir.userId }, data: { isOperator: true } })
    const attempt = (decision: string) =>
      owner.send('DELETE', '/me', { password: PASSWORD, organizations: { [owner.organizationId]: decision } })
    expect((await attempt('remove')).status).toBe(403)
    expect((await attempt(heir.userId)).status).toBe(204)
    expect(await organizationsOf(heir)).toMatchObject([{ id: owner.organizationId, role: 'owner' }])
  })
})
