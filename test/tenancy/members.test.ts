import { describe, expect, it } from 'vitest'
import { ROLES, type Role } from '../../src/lib/kernel/roles.ts'
import { knock } from '../mcp/messages.ts'

import { databasesOfRun } from '../support/databases.ts'
import { type Person, runPatchbay } from '../support/world.ts'

const membersOf = ({ organizationId }: Person, userId?: string): string =>
  `/organizations/${organizationId}/members${userId === undefined ? '' : `/${userId}`}`

describe.each(databasesOfRun)('members of an organization on $kind', kind => {
  const world = runPatchbay({ kind, hasMail: true })

  const rolesIn = async ({ organizationId }: Person): Promise<Record<string, string>> => {
    const rows = await world.db.membership.findMany({ where: { organizationId } })
    return Object.fromEntries(rows.map(({ userId, role }) => [userId, role]))
  }

  it('get roles from admins and owners, and the owner role only from owners', async () => {
    const owner = await world.person()
    const actors = {
      owner,
      admin: await world.member(owner.organizationId, 'admin'),
      builder: await world.member(owner.organizationId, 'builder'),
      viewer: await world.member(owner.organizationId, 'viewer'),
    }
    const may = (actor: Role, before: Role, after: Role): boolean =>
      actor === 'owner' || (actor === 'admin' && before !== 'owner' && after !== 'owner')
    for (const actor of ROLES) {
      for (const before of ROLES) {
        for (const after of ROLES) {
          if (before === after) continue
          const userId = await world.silentMember(owner.organizationId, before)
          const answer = await actors[actor].send('PUT', membersOf(owner, userId), { role: after })
          expect([actor, before, after, answer.status]).toEqual([
            actor,
            before,
            after,
            may(actor, before, after) ? 200 : 403,
          ])
          expect((await rolesIn(owner))[userId]).toBe(answer.status === 200 ? after : before)
        }
      }
    }
  })

  it('cannot raise their own role, but can lower it', async () => {
    const owner = await world.person()
    const admin = await world.member(owner.organizationId, 'admin')
    const viewer = await world.member(owner.organizationId, 'viewer')
    expect((await viewer.send('PUT', membersOf(owner, viewer.userId), { role: 'owner' })).status).toBe(403)
    expect((await admin.send('PUT', membersOf(owner, admin.userId), { role: 'owner' })).status).toBe(403)
    expect(await admin.send('PUT', membersOf(owner, admin.userId), { role: 'viewer' })).toMatchObject({
      status: 200,
      body: { userId: admin.userId, email: admin.email, role: 'viewer' },
    })
    expect((await admin.send('PUT', membersOf(owner, admin.userId), { role: 'admin' })).status).toBe(403)
    expect(await world.auditOf(owner.organizationId)).toContain('member.role_changed')
  })

  it('always include an owner: the last one can neither step down, leave nor be removed', async () => {
    const owner = await world.person()
    const admin = await world.member(owner.organizationId, 'admin')
    const stepDown = await owner.send('PUT', membersOf(owner, owner.userId), { role: 'admin' })
    expect(stepDown).toMatchObject({ status: 409, body: { detail: expect.stringContaining('last owner') } })
    expect((await owner.send('DELETE', membersOf(owner, owner.userId))).status).toBe(409)
    expect((await admin.send('DELETE', membersOf(owner, owner.userId))).status).toBe(403)
    expect(await rolesIn(owner)).toEqual({ [owner.userId]: 'owner', [admin.userId]: 'admin' })
  })

  it.each(['DELETE', 'PUT'] as const)('always include an owner, even if all go at once by %s', async method => {
    const owner = await world.person()
    const owners = [
      owner,
      await world.member(owner.organizationId, 'owner'),
      await world.member(owner.organizationId, 'owner'),
    ]
    const body = method === 'PUT' ? { role: 'viewer' } : undefined
    const answers = await Promise.all(owners.map(one => one.send(method, membersOf(owner, one.userId), body)))
    const done = method === 'PUT' ? 200 : 204
    expect(answers.map(({ status }) => status).sort()).toEqual([done, done, 409])
    expect(Object.values(await rolesIn(owner)).filter(role => role === 'owner')).toHaveLength(1)
  })

  it('who are removed lose access immediately, and only in that organization', async () => {
    const owner = await world.person()
    const builder = await world.member(owner.organizationId, 'builder')
    const { organizationId } = owner
    const shared = await owner.create('/servers', { name: 'Shared', access: 'organization', organizationId })
    const named = await owner.create('/servers', { name: 'Named', allowedUsers: [builder.email], organizationId })
    const theirs = await builder.create('/servers', { name: 'Theirs', organizationId })
    const own = await builder.create('/servers', { name: 'Own', organizationId: builder.organizationId })
    const statuses = () =>
      Promise.all([shared, named, theirs, own].map(({ id }) => knock(`${world.origin}/s/${id}`, builder.token)))
    expect(await statuses()).toEqual([200, 200, 200, 200])

    expect((await owner.send('DELETE', membersOf(owner, builder.userId))).status).toBe(204)
    expect(await statuses()).toEqual([403, 403, 403, 200])
    expect((await builder.send('GET', `/servers/${theirs.id}`)).status).toBe(404)
    expect((await builder.send('GET', membersOf(owner))).status).toBe(404)
    expect((await builder.send('GET', `/servers/${own.id}`)).status).toBe(200)
    expect((await owner.send('GET', `/servers/${theirs.id}`)).body).toMatchObject({ ownerId: owner.userId })
    expect((await owner.send('GET', `/servers/${named.id}`)).body).toMatchObject({ allowedUsers: [] })
    expect(await knock(`${world.origin}/s/${theirs.id}`, owner.token)).toBe(200)
    expect(await world.auditOf(organizationId)).toContain('member.removed')
  })

  it('who are removed are disconnected from open streams', async () => {
    const owner = await world.person()
    const viewer = await world.member(owner.organizationId, 'viewer')
    const { id } = await owner.create('/servers', {
      name: 'Streaming',
      access: 'organization',
      organizationId: owner.organizationId,
    })
    const stream = await fetch(`${world.origin}/s/${id}/sse`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${viewer.token}` },
    })
    expect(stream.status).toBe(200)
    expect((await owner.send('DELETE', membersOf(owner, viewer.userId))).status).toBe(204)
    // The response ends only when the server closes the stream.
    expect(await stream.text()).toContain('event: endpoint')
  })

  it('who leave transfer their servers to the oldest owner, or to a member they choose', async () => {
    const owner = await world.person()
    const { organizationId } = owner
    const second = await world.member(organizationId, 'owner')
    const viewer = await world.member(organizationId, 'viewer')
    const [one, other] = [await world.member(organizationId, 'builder'), await world.member(organizationId, 'builder')]
    const oldest = await one.create('/servers', { name: 'To the oldest', organizationId })
    const chosen = await other.create('/servers', { name: 'To the chosen', organizationId })
    expect((await one.send('DELETE', membersOf(owner, one.userId))).status).toBe(204)
    for (const serversTo of [viewer.userId, other.userId, (await world.person()).userId]) {
      const refused = await other.send('DELETE', membersOf(owner, other.userId), { serversTo })
      expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'serversTo' }] } })
    }
    expect((await other.send('DELETE', membersOf(owner, other.userId), { serversTo: second.userId })).status).toBe(204)
    expect((await owner.send('GET', `/servers/${oldest.id}`)).body).toMatchObject({ ownerId: owner.userId })
    expect((await owner.send('GET', `/servers/${chosen.id}`)).body).toMatchObject({ ownerId: second.userId })
  })
})
