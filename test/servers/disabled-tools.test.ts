import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { openDatabase } from '../../src/lib/db/client.ts'
import { migrate } from '../../src/lib/db/migrate.ts'
import { makeServer } from '../support/api-client.ts'
import { databaseKinds, databasesOfRun, MIGRATIONS_DIRECTORY } from '../support/databases.ts'
import { migrateUntil } from '../support/migrate-until.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'
import { callText, connect, connectListening, toolNames } from './mcp.ts'

const OpenApi = z.looseObject({
  components: z.looseObject({ schemas: z.record(z.string(), z.looseObject({})) }).optional(),
  paths: z.record(z.string(), z.looseObject({})),
})
const DISABLED = { isError: true, text: 'The tool "b" is disabled on this server.' }

describe.each(databasesOfRun)('disabled tools on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const fake = runFakeApi()
  const ada = runUser(patchbay)

  const tool = (name: string) => ({ name, method: 'GET', url: `${fake.origin}/${name}`, description: `Reads ${name}` })
  const make = (server: object = {}) =>
    makeServer(
      ada,
      ['a', 'b', 'c'].map(name => tool(name)),
      { server: { name: 'Desk', ...server } },
    )
  const enable = (id: string | undefined, enabled: boolean) => ada.expectOk('PATCH', `/instances/${id}`, { enabled })

  it('are created, changed and read with the API, and tools are enabled by default', async () => {
    const { serverId, toolIds, instanceIds } = await make()
    const path = `/instances/${instanceIds.a}`
    expect((await ada.expectOk('GET', path)).body).toMatchObject({ enabled: true })
    expect((await enable(instanceIds.a, false)).body).toMatchObject({ name: 'a', enabled: false })
    expect((await ada.expectOk('PATCH', path, { description: 'Kept' })).body).toMatchObject({ enabled: false })
    expect((await enable(instanceIds.a, true)).body).toMatchObject({ enabled: true, description: 'Kept' })
    const added = { toolId: toolIds.a, name: 'later', enabled: false }
    expect(await ada.send('POST', `/servers/${serverId}/instances`, added)).toMatchObject({
      status: 201,
      body: { enabled: false },
    })
    expect(await ada.send('PATCH', path, { enabled: 'no' })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'enabled' }] },
    })
    const described = JSON.stringify(OpenApi.parse((await ada.send('GET', '/openapi.json')).body).paths)
    expect(described).toContain('calls of a disabled tool are refused')
  })

  it('are in no list, and a call says why; clients hear of each change without connecting again', async () => {
    const { instanceIds, url } = await make()
    const { client, lastNames } = await connectListening(url)
    expect(await toolNames(client)).toEqual(['a', 'b', 'c'])
    expect(await callText(client, 'b')).toMatchObject({ isError: false })
    await enable(instanceIds.b, false)
    await expect.poll(lastNames).toEqual(['a', 'c'])
    expect(await toolNames(client)).toEqual(['a', 'c'])
    const calls = fake.seen.length
    expect(await callText(client, 'b')).toEqual(DISABLED)
    expect(fake.seen).toHaveLength(calls)
    await enable(instanceIds.b, true)
    await expect.poll(lastNames).toEqual(['a', 'b', 'c'])
    expect(await callText(client, 'b')).toMatchObject({ isError: false })
  })

  it('cannot be called with the API either', async () => {
    const { instanceIds } = await make()
    await enable(instanceIds.b, false)
    const { body } = await ada.expectOk('POST', `/instances/${instanceIds.b}/call`, { arguments: {} })
    expect(JSON.stringify(body)).toContain('is disabled on this server')
  })

  it('are in no group, and a toolkit with nothing else is no group', async () => {
    const { instanceIds, url } = await make({ presentation: 'grouped' })
    await enable(instanceIds.b, false)
    const client = await connect(url)
    const listed = async () =>
      (await client.listTools()).tools.find(({ name }) => name === 'get_dynamic_tools')?.description
    const group = 'Toolkit'
    expect(await listed()).toContain('- Toolkit (2 tools)')
    expect((await callText(client, 'get_dynamic_tools', { group })).text).not.toContain('"b"')
    expect(await callText(client, 'call_dynamic_tool', { group, name: 'b' })).toEqual(DISABLED)
    const unknown = await callText(client, 'call_dynamic_tool', { group, name: 'd' })
    expect(unknown.text).toContain('Its tools: "a", "c".')
    for (const id of [instanceIds.a, instanceIds.c]) await enable(id, false)
    await expect.poll(listed).not.toContain('Toolkit')
  })

  it('are found by no search and counted in none, also if they are pinned', async () => {
    const { instanceIds, url } = await make({ presentation: 'search', pinnedTools: ['b'] })
    await enable(instanceIds.b, false)
    const client = await connect(url)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name).sort()).toEqual(['call_tool', 'find_tools'])
    expect(tools.find(({ name }) => name === 'find_tools')?.description).toMatch(/\b2\b/)
    expect((await callText(client, 'find_tools', { queries: ['Reads b'] })).text).not.toContain('"b"')
    expect(await callText(client, 'call_tool', { name: 'b' })).toEqual(DISABLED)
  })

  it('keep their name from an attached tool or a new one', async () => {
    const { serverId, instanceIds, toolIds } = await make()
    await enable(instanceIds.b, false)
    const again = { toolId: toolIds.a, name: 'b' }
    expect((await ada.send('POST', `/servers/${serverId}/instances`, again)).status).toBe(409)
  })

  it('do not decide whether the tools for cut results are listed', async () => {
    const { serverId, instanceIds, url } = await make({ maxResponseTokens: 0, cutResultTools: 'always' })
    await ada.expectOk('PATCH', `/instances/${instanceIds.b}`, { maxResponseTokens: 200 })
    const client = await connect(url)
    expect(await toolNames(client)).toContain('proxy_filter')
    await enable(instanceIds.b, false)
    await expect.poll(() => toolNames(client)).toEqual(['a', 'c'])
    expect((await ada.expectOk('GET', `/servers/${serverId}/lint`)).body).not.toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ name: 'b' })]),
    })
  })

  it('are switched together, all or none, and only on their own server', async () => {
    const mine = await make()
    const other = await make()
    const { instances, accounts } = patchbay.services
    const actor = await accounts.findActorByUserId(ada.userId)
    if (actor === undefined) throw new Error('no actor')
    const [a = '', b = '', foreign = ''] = [mine.instanceIds.a, mine.instanceIds.b, other.instanceIds.a]
    const states = async ({ serverId }: typeof mine) =>
      (await instances.listAllInstances(actor, serverId)).map(({ isEnabled }) => isEnabled)
    await instances.enableInstances(actor, mine.serverId, { ids: [a, b], isEnabled: false })
    expect(await states(mine)).toEqual([false, false, true])
    const mixed = { ids: [a, foreign], isEnabled: true }
    await expect(instances.enableInstances(actor, mine.serverId, mixed)).rejects.toMatchObject({ code: 'conflict' })
    expect([await states(mine), await states(other)]).toEqual([
      [false, false, true],
      [true, true, true],
    ])
  })
})

it.each(databaseKinds)('after the upgrade, existing tools are enabled and keep their bindings, on $kind', async on => {
  const database = await on.createEmpty()
  onTestFinished(database.drop)
  await migrateUntil(database, '_disabled_tools')
  const db = await openDatabase(database.target)
  try {
    await db.$executeRaw`INSERT INTO "User" ("id", "email", "passwordHash", "updatedAt")
      VALUES ('owner', 'owner@example.com', '', CURRENT_TIMESTAMP)`
    await db.$executeRaw`INSERT INTO "Organization" ("id", "name", "updatedAt")
      VALUES ('organization', 'Organization', CURRENT_TIMESTAMP)`
    await db.$executeRaw`INSERT INTO "Server" ("id", "organizationId", "ownerId", "name", "access", "updatedAt")
      VALUES ('server', 'organization', 'owner', 'Server', 'public', CURRENT_TIMESTAMP)`
    await db.$executeRaw`INSERT INTO "Toolkit" ("id", "organizationId", "title", "updatedAt")
      VALUES ('toolkit', 'organization', 'Toolkit', CURRENT_TIMESTAMP)`
    await db.$executeRaw`INSERT INTO "Tool" ("id", "toolkitId", "name", "definition", "updatedAt")
      VALUES ('tool', 'toolkit', 'tool', '{}', CURRENT_TIMESTAMP)`
    await db.$executeRaw`INSERT INTO "Instance" ("id", "serverId", "toolId", "name", "updatedAt")
      VALUES ('instance', 'server', 'tool', 'mine', CURRENT_TIMESTAMP)`
    await db.$executeRaw`INSERT INTO "Binding" ("id", "instanceId", "parameter", "source", "updatedAt")
      VALUES ('binding', 'instance', 'id', 'exposed', CURRENT_TIMESTAMP)`
    await migrate(database.target, MIGRATIONS_DIRECTORY)
    const found = await db.instance.findUniqueOrThrow({ where: { id: 'instance' }, include: { bindings: true } })
    expect(found).toMatchObject({ isEnabled: true, name: 'mine', bindings: [{ id: 'binding' }] })
  } finally {
    await db.close()
  }
})
