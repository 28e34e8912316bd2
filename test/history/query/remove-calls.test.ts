import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ApiClient } from '../../support/api-client.ts'
import { databaseKinds } from '../../support/databases.ts'
import { buildExecution } from '../execution.ts'
import { readAllCalls, refusalOf, runCallsWorld, secondsBeforeNoon } from './calls-world.ts'

const Removed = z.object({ removed: z.int(), nextCursor: z.string().nullable() })

describe.each(databaseKinds)('deleting calls by filter on $kind', kind => {
  const world = runCallsWorld(kind)

  const remove = async (api: ApiClient, path: string) => Removed.parse((await api.expectOk('DELETE', path)).body)
  const left = async (serverId: string) =>
    (await readAllCalls(world.owner, `/servers/${serverId}/executions?limit=200`)).ids

  it('deletes those that match all filters, and no others', async () => {
    const [server, other] = [await world.server(), await world.server()]
    const ids = await world.addCalls(server, 1_200, index => ({ tool: index % 2 === 0 ? 'even' : 'odd' }))
    const kept = await world.addCalls(other, 2, () => ({ tool: 'even' }))
    const to = secondsBeforeNoon(1_100).toISOString()
    expect(await remove(world.owner, `/servers/${server}/executions?tool=even&to=${to}`)).toEqual({
      removed: 49,
      nextCursor: null,
    })
    expect(await left(server)).toEqual(ids.filter((_, index) => index % 2 === 1 || index <= 1_100))
    expect(
      await remove(world.owner, `/organizations/${world.organizationId}/executions?server=${server}&tool=even`),
    ).toMatchObject({ removed: 551 })
    expect(await remove(world.owner, `/servers/${server}/executions?to=${new Date().toISOString()}`)).toMatchObject({
      removed: 600,
    })
    expect(await left(server)).toEqual([])
    expect(await left(other)).toEqual(kept)
  })

  it('finds text in the calls to delete', async () => {
    const server = await world.server()
    const [, ...others] = await world.addCalls(server, 3, index => ({
      error: index === 0 ? 'from ada@example.com' : null,
    }))
    expect(await remove(world.owner, `/servers/${server}/executions?q=ADA@example.com`)).toMatchObject({ removed: 1 })
    expect(await left(server)).toEqual(others)
  })

  it('is written to the audit log, before and after, with its filters', async () => {
    const owner = await world.person()
    const { organizationId } = owner
    const server = (await owner.create('/servers', { name: 'Weather', organizationId })).id
    await world.addCalls(server, 3, () => ({ organizationId }))
    await remove(owner, `/servers/${server}/executions?caller=anonymous&status=2xx&status=404`)
    const entries = await world.db.auditEntry.findMany({
      where: { organizationId, action: { startsWith: 'call.' } },
      orderBy: { id: 'asc' },
    })
    const filters = { caller: ['anonymous'], status: ['2xx', '404'] }
    expect(entries).toMatchObject([
      { action: 'call.removal_began', actorId: owner.userId, targetType: 'server', targetId: server, change: filters },
      { action: 'call.removed', change: { ...filters, removed: 3 } },
    ])
  })

  it('leaves calls that are recorded afterwards', async () => {
    const server = await world.server()
    world.services.recorder.record(buildExecution(server))
    await world.services.recorder.flush()
    await remove(world.owner, `/servers/${server}/executions?tool=get_weather`)
    const later = buildExecution(server)
    world.services.recorder.record(later)
    await world.services.recorder.flush()
    expect(await left(server)).toEqual([later.id])
  })

  it('needs an admin, and a filter that exists', async () => {
    const server = await world.server()
    const ids = await world.addCalls(server, 1)
    const [admin, builder] = [
      await world.member(world.organizationId, 'admin'),
      await world.member(world.organizationId, 'builder'),
    ]
    for (const path of [`/servers/${server}/executions`, `/organizations/${world.organizationId}/executions`]) {
      expect(refusalOf(await builder.send('DELETE', `${path}?tool=get_weather`))).toMatch(/^403/)
      expect(refusalOf(await admin.send('DELETE', path))).toMatch(/^400 Set at least one filter/)
      expect(refusalOf(await admin.send('DELETE', `${path}?tols=get_weather`))).toMatch(/^400 .*tols/)
    }
    expect(await left(server)).toEqual(ids)
    expect(await remove(admin, `/servers/${server}/executions?tool=get_weather`)).toMatchObject({ removed: 1 })
  })
})
