import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { descriptionOf } from '../imports/reading.ts'
import { storeReview } from '../imports/reviews.ts'
import { knock } from '../mcp/messages.ts'
import { WithId } from '../support/api-client.ts'

import { databasesOfRun } from '../support/databases.ts'
import { echo, startFakeApi } from '../support/fake-api.ts'
import { type Person, runPatchbay } from '../support/world.ts'

const Tools = z.object({ items: z.array(z.object({ id: z.string(), toolId: z.string(), name: z.string() })) })

describe.each(databasesOfRun)('a transfer on $kind', kind => {
  const world = runPatchbay({ kind, hasMail: true })

  /** Creates an admin of one organization who is a builder in another, whose owner is `there`. */
  const mover = async () => {
    const there = await world.person()
    const one = await world.person()
    await world.db.membership.create({
      data: { organizationId: there.organizationId, userId: one.userId, role: 'builder' },
    })
    return { one, there, from: one.organizationId, to: there.organizationId }
  }
  const serverOf = async (one: Person, organizationId: string, url: string, rest: object = {}) => {
    const toolkit = await one.create('/toolkits', { title: 'Private tools', organizationId })
    const tool = await one.create(`/toolkits/${toolkit.id}/tools`, {
      name: 'send',
      method: 'POST',
      url: `${url}/{{path}}`,
      body: '{"key": {{key}}}',
    })
    await one.create(`/toolkits/${toolkit.id}/tools`, { name: 'unused', method: 'GET', url })
    const server = await one.create('/servers', { name: 'Moving', organizationId, ...rest })
    await one.expectOk('PUT', `/servers/${server.id}/globals/key`, { value: 'sk-secret', secret: true })
    const bindings = { key: { source: 'server' } }
    const instance = await one.create(`/servers/${server.id}/instances`, { toolId: tool.id, name: 'send_it', bindings })
    return { server, toolkit, tool, instance }
  }

  it('moves a server with all its parts, and copies of the toolkits it uses', async () => {
    const api = await startFakeApi(echo)
    const { one, there, from, to } = await mover()
    const { server, toolkit, tool, instance } = await serverOf(one, from, api.origin)
    const moved = await one.send('POST', `/servers/${server.id}/transfer`, { organizationId: to })
    expect(moved).toMatchObject({ status: 200, body: { id: server.id, organizationId: to, ownerId: one.userId } })

    expect(Tools.parse((await there.expectOk('GET', `/servers/${server.id}/instances`)).body).items).toMatchObject([
      { id: instance.id, toolId: tool.id, name: 'send_it' },
    ])
    const call = await one.expectOk('POST', `/instances/${instance.id}/call`, { arguments: { path: 'there' } })
    expect(call.body).not.toMatchObject({ isError: true })
    expect(api.seen.at(-1)?.body).toContain('sk-secret')
    // The copy is a snapshot: later changes to the private toolkit do not affect it.
    await one.expectOk('PATCH', `/tools/${tool.id}`, { url: 'http://localhost:9/elsewhere/{{path}}' })
    expect((await there.expectOk('GET', `/servers/${server.id}/toolkits`)).body).toMatchObject({
      items: [{ id: toolkit.id, snapshot: { update: null } }],
    })
    expect((await there.send('GET', `/toolkits/${toolkit.id}`)).status).toBe(404)
    expect((await one.send('DELETE', `/toolkits/${toolkit.id}`)).status).toBe(204)
    await one.expectOk('POST', `/instances/${instance.id}/call`, { arguments: { path: 'again' } })
    expect(api.seen.at(-1)?.url).toContain('/again')
    for (const organizationId of [from, to]) {
      expect(await world.auditOf(organizationId)).toContain('server.transferred')
    }
    await api.close()
  })

  it('keeps access for members of the new organization: the owner, allowed users and their clients', async () => {
    const { one, there, from, to } = await mover()
    const left = await world.member(from, 'builder')
    const allowedUsers = [left.email, there.userId]
    const server = await left.create('/servers', { name: 'Moving', organizationId: from, allowedUsers })
    await world.db.oAuthArtifact.createMany({
      data: [left, there].map(({ userId }) => ({
        kind: 'Grant',
        handleHash: userId,
        payload: {},
        userId,
        serverId: server.id,
      })),
    })
    expect(await knock(`${world.origin}/s/${server.id}`, left.token)).toBe(200)
    await one.expectOk('POST', `/servers/${server.id}/transfer`, { organizationId: to })
    expect((await there.expectOk('GET', `/servers/${server.id}`)).body).toMatchObject({
      ownerId: one.userId,
      allowedUsers: [there.userId],
    })
    expect(await knock(`${world.origin}/s/${server.id}`, left.token)).toBe(403)
    expect(await knock(`${world.origin}/s/${server.id}`, there.token)).toBe(200)
    expect(await world.db.oAuthArtifact.findMany({ where: { serverId: server.id } })).toMatchObject([
      { userId: there.userId },
    ])
  })

  it('gives a server to the named owner, if they can build there', async () => {
    const { one, there, from, to } = await mover()
    const viewer = await world.member(to, 'viewer')
    const server = await one.create('/servers', { name: 'Moving', organizationId: from })
    const path = `/servers/${server.id}/transfer`
    for (const ownerId of [viewer.userId, (await world.person()).userId]) {
      expect(await one.send('POST', path, { organizationId: to, ownerId })).toMatchObject({
        status: 400,
        body: { errors: [{ path: 'ownerId' }] },
      })
    }
    expect(await one.send('POST', path, { organizationId: to, ownerId: there.userId })).toMatchObject({
      status: 200,
      body: { ownerId: there.userId },
    })
  })

  it('requires the manage permission in the old organization and build in the new one', async () => {
    const { one, there, from, to } = await mover()
    const builder = await world.member(from, 'builder')
    await world.db.membership.create({ data: { organizationId: to, userId: builder.userId, role: 'owner' } })
    const admin = await world.member(from, 'admin')
    await world.db.membership.create({ data: { organizationId: to, userId: admin.userId, role: 'viewer' } })
    const server = await one.create('/servers', { name: 'Staying', organizationId: from })
    const toolkit = await one.create('/toolkits', { title: 'Staying', organizationId: from })
    for (const path of [`/servers/${server.id}/transfer`, `/toolkits/${toolkit.id}/transfer`]) {
      expect((await builder.send('POST', path, { organizationId: to })).status).toBe(403)
      expect((await admin.send('POST', path, { organizationId: to })).status).toBe(403)
      expect((await there.send('POST', path, { organizationId: to })).status).toBe(404)
      expect((await one.send('POST', path, { organizationId: from })).status).toBe(409)
      const { organizationId: foreign } = await world.person()
      expect((await one.send('POST', path, { organizationId: foreign })).status).toBe(404)
    }
  })

  it('of a toolkit leaves the secrets of its imports behind', async () => {
    const { one, there, from, to } = await mover()
    const toolkit = await one.create('/toolkits', { title: 'Imported', organizationId: from })
    const security = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } }
    const paths = { '/a': { get: { security: [{ key: [] }], responses: {} } } }
    const secrets = { key: 'sk-of-the-old-organization' }
    const review = { toolkitId: toolkit.id, userId: one.userId }
    const description = descriptionOf({ components: security, paths })
    const id = await storeReview(world.services, review, description, { secrets })
    await one.expectOk('POST', `/toolkits/${toolkit.id}/transfer`, { organizationId: to })
    expect(await world.db.import.findUniqueOrThrow({ where: { id } })).toMatchObject({ secrets: null, keyId: null })
    const seen = await there.expectOk('GET', `/imports/${id}`)
    expect(seen.body).toMatchObject({ settings: { secretKeys: [] } })
  })

  it('of a toolkit says nothing of the servers and values of its imports', async () => {
    const { one, there, from, to } = await mover()
    const toolkit = await one.create('/toolkits', { title: 'Imported', organizationId: from })
    const paths = { '/a': { get: { operationId: 'getA', security: [{ key: [] }], responses: {} } } }
    const components = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } }
    const settings = { server: { newName: 'Hush-hush' }, baseUrls: { base_url: 'https://hush.example' } }
    const review = { toolkitId: toolkit.id, userId: one.userId }
    const id = await storeReview(world.services, review, descriptionOf({ paths, components }), { settings })
    const applied = await one.expectOk('POST', `/imports/${id}/apply`)
    expect(applied.body).toMatchObject({ server: { name: 'Hush-hush' }, missing: [{ key: 'key' }] })
    const server = z.object({ server: WithId }).parse(applied.body).server.id
    const { items } = Tools.parse((await one.expectOk('GET', `/servers/${server}/instances`)).body)
    for (const instance of items) await one.expectOk('DELETE', `/instances/${instance.id}`)
    await one.expectOk('DELETE', `/servers/${server}/toolkits/${toolkit.id}`)
    await one.expectOk('POST', `/toolkits/${toolkit.id}/transfer`, { organizationId: to })
    const report = await there.expectOk('POST', `/imports/${id}/apply`)
    expect(report.body).toMatchObject({ created: [{ name: 'get_a' }], server: null, rewired: [], missing: [] })
    const seen = await there.expectOk('GET', `/imports/${id}`)
    expect(seen.body).toMatchObject({ settings: { server: null, baseUrls: {} } })
    expect(JSON.stringify([report.body, seen.body])).not.toMatch(/hush/i)
  })

  it('of a toolkit is rejected while servers use it, naming them, and keeps snapshots of others', async () => {
    const { one, there, from, to } = await mover()
    const toolkit = await one.create('/toolkits', { title: 'Shared', visibility: 'public', organizationId: from })
    const tool = await one.create(`/toolkits/${toolkit.id}/tools`, {
      name: 'one',
      method: 'GET',
      url: 'http://localhost:9/',
    })
    const user = await one.create('/servers', { name: 'The user', organizationId: from })
    await one.expectOk('PUT', `/servers/${user.id}/toolkits/${toolkit.id}`)
    const path = `/toolkits/${toolkit.id}/transfer`
    const refused = await one.send('POST', path, { organizationId: to })
    expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining('"The user"') } })
    await one.expectOk('DELETE', `/servers/${user.id}/toolkits/${toolkit.id}`)
    // The transfer moves the toolkit into this server's organization, but the server's snapshot is still updated like
    // any other.
    const holder = await there.create('/servers', { name: 'The holder', organizationId: to })
    await there.expectOk('PUT', `/servers/${holder.id}/toolkits/${toolkit.id}`)
    await there.create(`/servers/${holder.id}/instances`, { toolId: tool.id, name: 'one' })

    const moved = await one.send('POST', path, { organizationId: to })
    expect(moved).toMatchObject({ status: 200, body: { id: toolkit.id, organizationId: to } })
    const added = await there.create(`/toolkits/${toolkit.id}/tools`, {
      name: 'two',
      method: 'GET',
      url: 'http://localhost:9/',
    })
    const toolkits = async () => (await there.expectOk('GET', `/servers/${holder.id}/toolkits`)).body
    expect(await toolkits()).toMatchObject({ items: [{ id: toolkit.id, snapshot: { update: { added: ['two'] } } }] })
    const early = await there.send('POST', `/servers/${holder.id}/instances`, { toolId: added.id, name: 'two' })
    expect(early.status).toBe(400)
    await there.expectOk('PUT', `/servers/${holder.id}/toolkits/${toolkit.id}`)
    await there.create(`/servers/${holder.id}/instances`, { toolId: added.id, name: 'two' })
    expect(await toolkits()).toMatchObject({ items: [{ id: toolkit.id, snapshot: { update: null } }] })
    expect(await world.auditOf(from)).toContain('toolkit.transferred')
  })
})
