import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { knock } from '../mcp/messages.ts'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { withoutRequestId } from '../support/without-request-id.ts'
import { runPatchbay } from '../support/world.ts'
import { connect, makeRequest, refresh, registerClient } from './support/client.ts'
import { insertGrant, insertToken } from './support/tokens.ts'
import { createVisitor } from './support/visitor.ts'

const Common = {
  id: z.uuid(),
  client: z.strictObject({ id: z.string(), name: z.string() }),
  scopes: z.array(z.string()),
  lastUsedAt: z.iso.datetime().nullable(),
  expiresAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
}
const Grants = z.object({
  items: z.array(z.strictObject({ ...Common, user: z.strictObject({ id: z.uuid(), email: z.string() }) })),
  nextCursor: z.string().nullable(),
})
const Applications = z.object({
  items: z.array(
    z.strictObject({
      ...Common,
      server: z.strictObject({ id: z.uuid(), name: z.string().nullable(), url: z.url() }),
    }),
  ),
  nextCursor: z.string().nullable(),
})

describe.each(databasesOfRun)('grants on $kind', kind => {
  let ada: ApiClient & { userId: string; email: string }
  let bob: ApiClient & { userId: string; email: string }
  let eve: ApiClient & { userId: string; email: string }
  let serverId: string
  let url: string

  const patchbay = runPatchbay({ kind })
  beforeAll(async () => {
    const { origin } = patchbay
    ;[ada, bob, eve] = [await signUp(origin), await signUp(origin), await signUp(origin)]
    const server = { name: 'Desk', access: 'private', allowedUsers: [bob.email] }
    serverId = (await ada.create('/servers', server)).id
    url = `${origin}/s/${serverId}`
  })

  const grantsOf = async (id = serverId) => Grants.parse((await ada.expectOk('GET', `/servers/${id}/grants`)).body)
  const applicationsOf = async (who: ApiClient) =>
    Applications.parse((await who.expectOk('GET', '/me/applications')).body).items
  const lastEntry = async () =>
    patchbay.services.db.auditEntry.findFirstOrThrow({ where: { action: 'grant.removed' }, orderBy: { id: 'desc' } })

  it('are shown to the builder of the server and to their user, and end all their tokens', async () => {
    const { origin } = patchbay
    const visitor = createVisitor(origin)
    await visitor.signIn(bob.email)
    const { client_id } = await registerClient(origin, { client_name: 'Desk helper' })
    const tokens = await connect(visitor, origin, makeRequest(client_id, url, { scope: 'mcp:read' }))
    expect(await knock(url, tokens.access_token)).toBe(200)
    const used = async () => (await grantsOf()).items.find(({ client }) => client.id === client_id)
    await expect.poll(async () => (await used())?.lastUsedAt).toEqual(expect.any(String))
    const grant = await used()
    expect(grant).toMatchObject({
      client: { id: client_id, name: 'Desk helper' },
      user: { id: bob.userId, email: bob.email },
      scopes: ['mcp:read'],
    })
    expect(await applicationsOf(bob)).toMatchObject([
      { id: grant?.id, client: { name: 'Desk helper' }, server: { id: serverId, name: 'Desk', url } },
    ])
    expect(await applicationsOf(ada)).toEqual([])
    await bob.expectOk('DELETE', `/me/applications/${grant?.id}`)
    expect([await used(), await applicationsOf(bob)]).toEqual([undefined, []])
    expect(await knock(url, tokens.access_token)).toBe(401)
    expect((await refresh(origin, client_id, tokens.refresh_token)).status).toBe(400)
    const { db } = patchbay.services
    expect(await db.oAuthArtifact.count({ where: { grantId: grant?.id ?? '' } })).toBe(0)
    const { organizationId } = await db.server.findUniqueOrThrow({ where: { id: serverId } })
    expect(await lastEntry()).toMatchObject({
      actorId: bob.userId,
      organizationId,
      targetId: grant?.id,
      targetName: 'Desk helper',
      change: { userId: bob.userId, clientId: client_id, serverId },
    })
  })

  it("of a client with a metadata document show the document's host", async () => {
    const { id } = await ada.create('/servers', { name: 'Other' })
    const clientId = 'https://apps.example.com/mcp/client.json'
    await insertGrant(patchbay.services, { origin: patchbay.origin, userId: ada.userId, serverId: id, clientId })
    expect((await grantsOf(id)).items).toMatchObject([{ client: { id: clientId, name: 'apps.example.com' } }])
  })

  it('that have ended or belong to other servers are not listed', async () => {
    const { db } = patchbay.services
    const { id } = await ada.create('/servers', { name: 'Other' })
    const wish = { origin: patchbay.origin, userId: ada.userId, serverId: id }
    const [over, good] = [await insertGrant(patchbay.services, wish), await insertGrant(patchbay.services, wish)]
    await db.oAuthArtifact.update({ where: { id: over }, data: { expiresAt: new Date(Date.now() - 1_000) } })
    expect((await grantsOf(id)).items.map(grant => grant.id)).toEqual([good])
    await ada.expectOk('DELETE', `/servers/${id}`)
    expect((await applicationsOf(ada)).map(grant => grant.id)).not.toContain(good)
  })

  it('are listed in pages', async () => {
    const { id } = await ada.create('/servers', { name: 'Busy' })
    const made: string[] = []
    for (let count = 0; count < 5; count++) {
      const wish = { origin: patchbay.origin, userId: ada.userId, serverId: id, clientId: `client-${count}` }
      made.push(await insertGrant(patchbay.services, wish))
    }
    const seen: string[] = []
    let query = '?limit=2'
    for (;;) {
      const page = Grants.parse((await ada.expectOk('GET', `/servers/${id}/grants${query}`)).body)
      seen.push(...page.items.map(grant => grant.id))
      if (page.nextCursor === null) break
      query = `?limit=2&cursor=${page.nextCursor}`
    }
    expect(seen).toEqual(made.toSorted())
  })

  it("can be revoked only by the server's owner, an admin of its organization, and their user", async () => {
    const { db } = patchbay.services
    const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId: ada.userId } })
    const join = async (role: 'admin' | 'builder' | 'viewer') => {
      const member = await signUp(patchbay.origin)
      await db.membership.create({ data: { organizationId, userId: member.userId, role } })
      return member
    }
    const [admin, builder, viewer] = [await join('admin'), await join('builder'), await join('viewer')]
    const own = await builder.create('/servers', { name: 'Own', organizationId, access: 'organization' })
    const grant = (userId: string, server = serverId) =>
      insertGrant(patchbay.services, { origin: patchbay.origin, userId, serverId: server })
    const bobs = await grant(bob.userId)
    for (const [who, status] of [
      [eve, 404],
      [viewer, 403],
      [builder, 403],
      [bob, 204],
      [bob, 404],
    ] as const) {
      expect((await who.send('DELETE', `/grants/${bobs}`)).status).toBe(status)
    }
    expect((await admin.send('DELETE', `/grants/${await grant(bob.userId)}`)).status).toBe(204)
    expect((await ada.send('DELETE', `/grants/${await grant(bob.userId)}`)).status).toBe(204)
    expect((await builder.send('DELETE', `/grants/${await grant(viewer.userId, own.id)}`)).status).toBe(204)
    expect((await viewer.send('DELETE', `/grants/${await grant(viewer.userId, own.id)}`)).status).toBe(204)
    expect((await bob.send('GET', `/servers/${serverId}/grants`)).status).toBe(404)
  })

  it('of another organization do not exist, for every request', async () => {
    const bobs = await insertGrant(patchbay.services, { origin: patchbay.origin, userId: bob.userId, serverId })
    for (const [method, path] of [
      ['GET', `/servers/${serverId}/grants`],
      ['DELETE', `/grants/${bobs}`],
      ['DELETE', `/me/applications/${bobs}`],
    ] as const) {
      const foreign = await eve.send(method, path)
      const absent = await eve.send(method, path.replace(/[0-9a-f-]{36}/, randomUUID()))
      expect(foreign.status).toBe(404)
      expect(withoutRequestId(foreign.body)).toEqual(withoutRequestId(absent.body))
    }
    // Builders cannot revoke another user's grants through their own list of applications.
    expect((await ada.send('DELETE', `/me/applications/${bobs}`)).status).toBe(404)
    expect((await bob.send('DELETE', `/me/applications/${bobs}`)).status).toBe(204)
  })

  it('of a user who may no longer use the server hide its current name', async () => {
    const { id } = await ada.create('/servers', { name: 'Before', access: 'private', allowedUsers: [bob.email] })
    const { token } = await insertToken(patchbay.services, {
      origin: patchbay.origin,
      userId: bob.userId,
      serverId: id,
    })
    const shown = async () => (await applicationsOf(bob)).find(({ server }) => server.id === id)?.server.name
    expect(await shown()).toBe('Before')
    await ada.expectOk('PATCH', `/servers/${id}`, { name: 'After', allowedUsers: [] })
    expect(await shown()).toBeNull()
    expect(await knock(`${patchbay.origin}/s/${id}`, token)).toBe(403)
  })
})
