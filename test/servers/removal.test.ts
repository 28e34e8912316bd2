import { describe, expect, it, vi } from 'vitest'
import { newExecutionId } from '../../src/history/execution-id.ts'
import { knock } from '../mcp/messages.ts'
import { type ApiClient, makeServer, signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'

describe.each(databasesOfRun)('removing a server on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const fake = runFakeApi()

  /** Adds more entries to the history than fit in one batch. */
  const addHistory = (serverId: string, count = 1_100) =>
    patchbay.services.db.execution.createMany({
      data: Array.from({ length: count }, () => ({
        id: newExecutionId(),
        serverId,
        tool: 'call',
        startedAt: new Date(),
        durationMs: 1,
        outcome: 'ok' as const,
        requestBytes: 1,
        responseBytes: 1,
      })),
    })

  const makeFull = async (owner: ApiClient) => {
    const tool = { name: 'call', method: 'GET', url: `${fake.origin}/` }
    const made = await makeServer(owner, [tool])
    await owner.expectOk('PUT', `/servers/${made.serverId}/globals/key`, { value: 'x', secret: true })
    await addHistory(made.serverId)
    return made
  }

  /** Returns the statuses with which the API and MCP respond to requests for the server. */
  const statusesOf = async (owner: ApiClient, { serverId, instanceIds, url }: Awaited<ReturnType<typeof makeFull>>) => {
    const execution = await patchbay.services.db.execution.findFirst({ where: { serverId } })
    const get = async (path: string) => (await owner.send('GET', path)).status
    return {
      server: await get(`/servers/${serverId}`),
      globals: await get(`/servers/${serverId}/globals`),
      instance: await get(`/instances/${instanceIds.call}`),
      history: await get(`/servers/${serverId}/executions`),
      execution: await get(`/executions/${execution?.id}`),
      mcp: await knock(url),
    }
  }
  const everything = (status: number) =>
    Object.fromEntries(['server', 'globals', 'instance', 'history', 'execution', 'mcp'].map(name => [name, status]))

  it('ends its calls, then deletes its history and the rest, without touching other servers', async () => {
    const { db, bus } = patchbay.services
    const owner = await signUp(patchbay.origin)
    const server = await makeFull(owner)
    const other = await makeFull(owner)
    expect(await statusesOf(owner, server)).toEqual(everything(200))

    const meanwhile = Promise.withResolvers<object>()
    // The removal waits for the listeners before it deletes the history.
    const unsubscribe = bus.subscribe('server_removed', async () => {
      await vi.waitFor(async () => expect(await knock(server.url)).toBe(404))
      meanwhile.resolve({
        statuses: await statusesOf(owner, server),
        history: await db.execution.count({ where: { serverId: server.serverId } }),
        secrets: await db.global.count({ where: { serverId: server.serverId } }),
      })
    })
    await owner.expectOk('DELETE', `/servers/${server.serverId}`)
    unsubscribe()

    expect(await meanwhile.promise).toEqual({ statuses: everything(404), history: 1_100, secrets: 0 })
    expect(await db.server.count({ where: { id: server.serverId } })).toBe(0)
    expect(await db.execution.groupBy({ by: ['serverId'], _count: true })).toEqual([
      { serverId: other.serverId, _count: 1_100 },
    ])
    expect(await statusesOf(owner, other)).toEqual(everything(200))
    expect((await owner.send('DELETE', `/servers/${server.serverId}`)).status).toBe(404)
    await owner.expectOk('DELETE', `/toolkits/${server.toolkitId}`)
  })

  it('that was interrupted hides the server, and is finished by the next process', async () => {
    const { db, upkeep } = patchbay.services
    const owner = await signUp(patchbay.origin)
    const server = await makeFull(owner)
    // Recreates the state that a process leaves if it ends between the two steps.
    await db.server.update({ where: { id: server.serverId }, data: { removedAt: new Date() } })

    expect(await statusesOf(owner, server)).toEqual(everything(404))
    expect((await owner.expectOk('GET', '/servers')).body).toMatchObject({ items: [] })
    const listed = await fetch(`${patchbay.origin}/.well-known/mcp-servers`)
    expect(await listed.text()).not.toContain(server.serverId)

    await upkeep.run()
    expect(await db.server.count({ where: { id: server.serverId } })).toBe(0)
    expect(await db.execution.count({ where: { serverId: server.serverId } })).toBe(0)
  })
})
