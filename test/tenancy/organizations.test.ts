import { describe, expect, it } from 'vitest'
import { newExecutionId } from '../../src/history/execution-id.ts'
import { knock } from '../mcp/messages.ts'

import { databasesOfRun } from '../support/databases.ts'
import { organizationsOf, runPatchbay } from '../support/world.ts'

const TOOL = { name: 'get_thing', method: 'GET', url: 'http://localhost:9/thing' }

describe.each(databasesOfRun)('an organization on $kind', kind => {
  const world = runPatchbay({ kind, hasMail: true })

  it('is created, listed and renamed by its owner', async () => {
    const owner = await world.person()
    const made = await owner.create('/organizations', { name: ' Analytical Engines ' })
    expect(made).toMatchObject({ name: 'Analytical Engines', role: 'owner', createdAt: expect.any(String) })
    expect((await owner.send('GET', '/organizations')).body).toMatchObject({
      items: [{ id: owner.organizationId }, { id: made.id }],
      nextCursor: null,
    })
    const first = (await owner.expectOk('GET', '/organizations?limit=1')).body
    expect(first).toMatchObject({ items: [{ id: owner.organizationId }], nextCursor: expect.any(String) })
    const renamed = await owner.send('PATCH', `/organizations/${made.id}`, { name: 'Difference Engines' })
    expect(renamed).toMatchObject({ status: 200, body: { id: made.id, name: 'Difference Engines', role: 'owner' } })
    expect(await owner.send('PATCH', `/organizations/${made.id}`, { role: 'viewer' })).toMatchObject({ status: 400 })
    expect(await world.auditOf(made.id)).toEqual(['organization.created', 'organization.renamed'])
  })

  it('limits its history over the API, and keeps everything unless it does', async () => {
    const owner = await world.person()
    const { id } = await owner.create('/organizations', { name: 'Engines' })
    const path = `/organizations/${id}`
    expect((await owner.send('GET', path)).body).toMatchObject({ keepCallsDays: null, keepCalls: null })
    const limits = { keepCallsDays: 30, keepCalls: 100_000 }
    expect((await owner.expectOk('PATCH', path, limits)).body).toMatchObject({ name: 'Engines', ...limits })
    const changed = await owner.expectOk('PATCH', path, { keepCallsDays: null })
    expect(changed.body).toMatchObject({ keepCallsDays: null, keepCalls: 100_000 })
    for (const wrong of [{ keepCallsDays: 0 }, { keepCalls: 0 }, { keepCalls: 2e9 }, { keepCallsDays: 1.5 }]) {
      expect(await owner.send('PATCH', path, wrong)).toMatchObject({ status: 400 })
    }
    const builder = await world.member(id, 'builder')
    expect(await builder.send('PATCH', path, { keepCalls: 1 })).toMatchObject({ status: 403 })
    const history = 'organization.history_changed'
    expect(await world.auditOf(id)).toEqual(['organization.created', history, history])
  })

  it.each(['', ' ', 'a'.repeat(101), 'two\nlines', '\u202emoc.elpmaxe', '\u2067moc.elpmaxe'])(
    'is not named %j',
    async name => {
      const owner = await world.person()
      expect(await owner.send('POST', '/organizations', { name })).toMatchObject({
        status: 400,
        body: { errors: [{ path: 'name' }] },
      })
    },
  )

  it('is one of at most 20 that a user creates, and makes room when it is deleted', async () => {
    const owner = await world.person()
    // Signing up created the first.
    let id = ''
    for (let count = 2; count <= 20; count++) {
      id = (await owner.create('/organizations', { name: `Number ${count}` })).id
    }
    const refused = await owner.send('POST', '/organizations', { name: 'Number 21' })
    expect(refused).toMatchObject({ body: { detail: expect.stringMatching(/20 that you created exist.*Delete one/) } })
    expect(refused.status).toBe(422)
    await owner.expectOk('DELETE', `/organizations/${id}`, { confirm: 'Number 20' })
    await owner.create('/organizations', { name: 'Number 21' })
  })

  it('is deleted with its contents after its name is confirmed, but snapshots of others stay', async () => {
    const owner = await world.person()
    const member = await world.member(owner.organizationId, 'admin')
    const { id: organizationId } = await owner.create('/organizations', { name: 'Short-lived' })
    await world.db.membership.create({ data: { organizationId, userId: member.userId, role: 'admin' } })
    const toolkit = await owner.create('/toolkits', { title: 'Shared', visibility: 'public', organizationId })
    const tool = await owner.create(`/toolkits/${toolkit.id}/tools`, TOOL)
    const server = await owner.create('/servers', { name: 'Gone', access: 'public', organizationId })
    await owner.create(`/servers/${server.id}/instances`, { toolId: tool.id, name: 'get_thing' })
    const calls = Array.from({ length: 1_100 }, () => ({
      id: newExecutionId(),
      serverId: server.id,
      tool: 'get_thing',
      startedAt: new Date(),
      durationMs: 1,
      outcome: 'ok' as const,
      requestBytes: 1,
      responseBytes: 1,
    }))
    await world.db.execution.createMany({ data: calls })
    const stranger = await world.person()
    const copy = await stranger.create('/servers', { name: 'Copy' })
    await stranger.expectOk('PUT', `/servers/${copy.id}/toolkits/${toolkit.id}`)
    expect(await knock(`${world.origin}/s/${server.id}`, stranger.token)).toBe(200)

    const path = `/organizations/${organizationId}`
    expect(await owner.send('DELETE', path, { confirm: 'Something else' })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'confirm' }] },
    })
    expect((await owner.send('DELETE', path)).status).toBe(400)
    expect((await member.send('DELETE', path, { confirm: 'Short-lived' })).status).toBe(403)
    expect((await owner.send('DELETE', path, { confirm: 'Short-lived' })).status).toBe(204)

    expect((await owner.send('GET', path)).status).toBe(404)
    expect((await owner.send('GET', `/servers/${server.id}`)).status).toBe(404)
    expect((await member.send('GET', path)).status).toBe(404)
    expect(await knock(`${world.origin}/s/${server.id}`, stranger.token)).toBe(404)
    expect(await world.db.execution.count({ where: { serverId: server.id } })).toBe(0)
    const used = (await stranger.expectOk('GET', `/servers/${copy.id}/toolkits`)).body
    expect(used).toMatchObject({ items: [{ id: toolkit.id, snapshot: { update: null } }] })
    expect(
      await world.db.auditEntry.findFirst({ where: { targetId: organizationId, action: 'organization.removed' } }),
    ).toMatchObject({
      organizationId: null,
      actorEmail: owner.email,
      targetName: 'Short-lived',
    })
  })

  it('records each server deleted with it in the audit log', async () => {
    const owner = await world.person()
    const { id: organizationId } = await owner.create('/organizations', { name: 'Doomed' })
    const { id: serverId } = await owner.create('/servers', { name: 'Doomed too', organizationId })
    await owner.expectOk('DELETE', `/organizations/${organizationId}`, { confirm: 'Doomed' })
    expect(
      await world.db.auditEntry.findMany({ where: { targetId: serverId, action: 'server.removed' } }),
    ).toMatchObject([{ actorEmail: owner.email, targetName: 'Doomed too' }])
  })

  it('is deleted once if two requests do it concurrently', async () => {
    const owner = await world.person()
    const { id: organizationId } = await owner.create('/organizations', { name: 'Twice' })
    for (const name of ['One', 'Two', 'Three']) await owner.create('/servers', { name, organizationId })
    const remove = () => owner.send('DELETE', `/organizations/${organizationId}`, { confirm: 'Twice' })
    const statuses = (await Promise.all([remove(), remove(), remove()])).map(({ status }) => status)
    expect(statuses.filter(status => status === 204)).toHaveLength(1)
    expect(statuses.filter(status => status === 404)).toHaveLength(2)
    expect(
      await world.db.auditEntry.count({ where: { targetId: organizationId, action: 'organization.removed' } }),
    ).toBe(1)
  })

  it('remains if its owner deletes their only two organizations concurrently', async () => {
    const owner = await world.person()
    await owner.create('/organizations', { name: 'The other' })
    const own = await organizationsOf(owner)
    for (const { id: organizationId } of own) {
      for (const name of ['One', 'Two', 'Three']) await owner.create('/servers', { name, organizationId })
    }
    const answers = await Promise.all(
      own.map(({ id, name }) => owner.send('DELETE', `/organizations/${id}`, { confirm: name })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409])
    expect(await organizationsOf(owner)).toHaveLength(1)
  })

  it('cannot be deleted without the account if it is its owner’s only one', async () => {
    const owner = await world.person()
    const [own] = await organizationsOf(owner)
    const answer = await owner.send('DELETE', `/organizations/${own?.id}`, { confirm: own?.name })
    expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining('only organization') } })
    expect(await organizationsOf(owner)).toEqual([own])
  })
})

describe('with PATCHBAY_TENANCY=single', () => {
  const world = runPatchbay({ hasMail: true, env: { PATCHBAY_TENANCY: 'single' } })

  it('the only organization cannot be deleted, and no other created', async () => {
    const owner = await world.person()
    const builder = await world.person()
    expect(builder.organizationId).toBe(owner.organizationId)
    expect((await owner.send('POST', '/organizations', { name: 'Another' })).status).toBe(403)
    const [only] = await organizationsOf(owner)
    const answer = await owner.send('DELETE', `/organizations/${only?.id}`, { confirm: only?.name })
    expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining('PATCHBAY_TENANCY=single') } })
  })

  it('a user removed from it cannot create anything, and is told why', async () => {
    const [row] = await world.db.membership.findMany({ where: { role: 'owner' } })
    const organizationId = row?.organizationId ?? ''
    const gone = await world.person()
    await world.db.membership.deleteMany({ where: { organizationId, userId: gone.userId } })
    const answer = await gone.send('POST', '/servers', { name: 'Nowhere' })
    expect(answer).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('do not belong to an organization') },
    })
  })
})
