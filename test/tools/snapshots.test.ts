import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callText, connect, toolNames } from '../servers/mcp.ts'
import { signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const Used = z.object({
  items: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      snapshot: z
        .object({
          takenAt: z.string(),
          update: z
            .object({
              version: z.string(),
              added: z.array(z.string()),
              changed: z.array(z.unknown()),
              removed: z.array(z.string()),
            })
            .nullable(),
        })
        .nullable(),
    }),
  ),
})

describe.each(databasesOfRun)('a public toolkit of another organization on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const fake = runFakeApi()
  const ada = runUser(patchbay)
  const bob = runUser(patchbay)

  const tool = (name: string, path = name) => ({ name, method: 'GET', url: `${fake.origin}/${path}/{{town}}` })

  /** Creates a toolkit of Ada's with two tools. Bob's server uses it and has an instance of the first tool. */
  const share = async () => {
    const toolkit = await ada.create('/toolkits', { title: 'Weather', visibility: 'public' })
    const forecast = await ada.create(`/toolkits/${toolkit.id}/tools`, tool('forecast'))
    const history = await ada.create(`/toolkits/${toolkit.id}/tools`, tool('history'))
    const server = await bob.create('/servers', { name: 'Bob’s', maxResponseTokens: 0, access: 'public' })
    const use = `/servers/${server.id}/toolkits/${toolkit.id}`
    expect((await bob.send('PUT', use)).status).toBe(204)
    const work = { toolId: forecast.id, name: 'forecast', description: 'Ask for the weather' }
    const instance = await bob.create(`/servers/${server.id}/instances`, work)
    const used = async () => {
      const { items } = Used.parse((await bob.expectOk('GET', `/servers/${server.id}/toolkits`)).body)
      expect(items).toHaveLength(1)
      return items[0]
    }
    return { toolkit, forecast, history, server, instance, use, used, url: `${patchbay.origin}/s/${server.id}` }
  }

  it('is added as a snapshot of its current state, without a pending update, and its tools work', async () => {
    const { toolkit, forecast, instance, used, url } = await share()
    expect(await used()).toEqual({
      id: toolkit.id,
      title: 'Weather',
      snapshot: { takenAt: expect.stringMatching(/Z$/), update: null },
    })
    expect(instance).toMatchObject({ toolId: forecast.id, name: 'forecast', description: 'Ask for the weather' })
    const client = await connect(url)
    expect((await callText(client, 'forecast', { town: 'Turin' })).text).toContain('/forecast/Turin')
    expect(JSON.stringify((await bob.send('GET', '/toolkits')).body)).not.toContain('Weather')
  })

  it('does not change for its users when it is edited; they see the differences and accept them', async () => {
    const { toolkit, forecast, history, use, used, url } = await share()
    const client = await connect(url)
    const before = await used()
    await ada.expectOk('PATCH', `/tools/${forecast.id}`, tool('forecast', 'v2'))
    await ada.expectOk('DELETE', `/tools/${history.id}`)
    await ada.expectOk('POST', `/toolkits/${toolkit.id}/tools`, tool('alerts'))
    expect((await callText(client, 'forecast', { town: 'Turin' })).text).toContain('"/forecast/Turin"')
    expect((await used())?.snapshot).toEqual({
      takenAt: before?.snapshot?.takenAt,
      update: {
        version: expect.stringMatching(/^[\w-]{43}$/),
        added: ['alerts'],
        changed: [
          {
            name: 'forecast',
            fields: ['url'],
            changes: [{ field: 'url', from: tool('forecast').url, to: tool('forecast', 'v2').url }],
          },
        ],
        removed: ['history'],
      },
    })

    expect((await bob.send('PUT', use)).status).toBe(204)
    expect((await callText(client, 'forecast', { town: 'Turin' })).text).toContain('"/v2/Turin"')
    const after = (await used())?.snapshot
    expect(after?.update).toBeNull()
    expect(Date.parse(after?.takenAt ?? '')).toBeGreaterThan(Date.parse(before?.snapshot?.takenAt ?? ''))
  })

  it('offers new tools only once the update is accepted', async () => {
    const { toolkit, server, use } = await share()
    const alerts = await ada.create(`/toolkits/${toolkit.id}/tools`, tool('alerts'))
    const putToWork = () => bob.send('POST', `/servers/${server.id}/instances`, { toolId: alerts.id, name: 'alerts' })
    expect(await putToWork()).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'toolId', message: expect.stringContaining('pending update') }] },
    })
    await bob.expectOk('PUT', use)
    expect(await putToWork()).toMatchObject({ status: 201, body: { toolId: alerts.id } })
  })

  it('can be updated after its tools swapped names', async () => {
    const { forecast, history, use, used, url } = await share()
    await ada.expectOk('PATCH', `/tools/${history.id}`, { name: 'between' })
    await ada.expectOk('PATCH', `/tools/${forecast.id}`, { name: 'history' })
    await ada.expectOk('PATCH', `/tools/${history.id}`, { name: 'forecast' })
    expect((await used())?.snapshot?.update).toMatchObject({
      added: [],
      changed: [
        { name: 'forecast', fields: ['name'] },
        { name: 'history', fields: ['name'] },
      ],
      removed: [],
    })
    await bob.expectOk('PUT', use)
    expect((await used())?.snapshot?.update).toBeNull()
    // The instance keeps its name and its tool.
    expect((await callText(await connect(url), 'forecast', { town: 'Turin' })).text).toContain('"/forecast/Turin"')
  })

  it('is not updated if it changed again after its update was reviewed', async () => {
    const { forecast, use, used } = await share()
    await ada.expectOk('PATCH', `/tools/${forecast.id}`, tool('forecast', 'v2'))
    const seen = (await used())?.snapshot?.update?.version
    expect((await used())?.snapshot?.update?.version).toBe(seen)
    await ada.expectOk('PATCH', `/tools/${forecast.id}`, tool('forecast', 'v3'))
    expect(await bob.send('PUT', `${use}?version=${seen}`)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('has changed since') },
    })
    const update = (await used())?.snapshot?.update
    expect(update).toMatchObject({ changed: [{ changes: [{ field: 'url', to: tool('forecast', 'v3').url }] }] })
    expect((await bob.send('PUT', `${use}?version=${update?.version}`)).status).toBe(204)
    expect((await used())?.snapshot?.update).toBeNull()
  })

  it.each([
    ['to another origin', { url: 'https://evil.example/{{town}}' }, /https:\/\/evil\.example/],
    ['to another port', { url: 'http://127.0.0.1:1/{{town}}' }, /http:\/\/127\.0\.0\.1:1/],
    ['wherever a parameter points', { url: '{{url:base=https://evil.example}}/{{town}}' }, /wherever "base"/],
  ])('whose update moves a tool %s is refused while a secret is bound there', async (_what, patch, where) => {
    const { forecast, server, instance, use, used } = await share()
    await bob.expectOk('PUT', `/servers/${server.id}/globals/token`, { value: 'sk-canary', secret: true })
    await ada.expectOk('PATCH', `/tools/${forecast.id}`, patch)
    for (const binding of [
      { source: 'server', value: 'token' },
      { source: 'instance', value: 'a {{token}}' },
    ]) {
      await bob.expectOk('PATCH', `/instances/${instance.id}`, { bindings: { town: binding } })
      const { status, body } = await bob.send('PUT', use)
      expect(status).toBe(409)
      const { detail } = z.object({ detail: z.string() }).parse(body)
      expect(detail).toMatch(where)
      for (const part of ['tool "forecast"', fake.origin, '"token"', '"town"']) expect(detail).toContain(part)
      expect(detail).not.toContain('canary')
    }
    expect((await used())?.snapshot?.update).not.toBeNull()
    await bob.expectOk('PATCH', `/instances/${instance.id}`, { bindings: {} })
    expect((await bob.send('PUT', use)).status).toBe(204)
  })

  it('is updated if the tool still calls the same origin, also with a secret bound to it', async () => {
    const { forecast, server, instance, use } = await share()
    await bob.expectOk('PUT', `/servers/${server.id}/globals/token`, { value: 'sk-canary', secret: true })
    await bob.expectOk('PATCH', `/instances/${instance.id}`, {
      bindings: { town: { source: 'server', value: 'token' } },
    })
    await ada.expectOk('PATCH', `/tools/${forecast.id}`, tool('forecast', 'v2'))
    expect((await bob.send('PUT', use)).status).toBe(204)
  })

  it.each([
    ['another host', { url: 'https://{{region}}.evil.example/{{town}}' }, 409],
    ['another default', { parameters: { region: { default: 'us' } } }, 409],
    ['more origins', { allowedOrigins: ['https://eu.a.example', 'https://us.a.example'] }, 409],
    ['another path', { url: 'https://{{region}}.a.example/v2/{{town}}' }, 204],
  ])('that parameters send somewhere: an update to %s, with a secret bound, is %s', async (_what, patch, expected) => {
    const toolkit = await ada.create('/toolkits', { title: 'Regions', visibility: 'public' })
    const made = await ada.create(`/toolkits/${toolkit.id}/tools`, {
      name: 'regional',
      method: 'GET',
      url: 'https://{{region}}.a.example/{{town}}',
      allowedOrigins: ['https://eu.a.example'],
    })
    const server = await bob.create('/servers', { name: 'Regional', maxResponseTokens: 0 })
    const use = `/servers/${server.id}/toolkits/${toolkit.id}`
    await bob.expectOk('PUT', use)
    await bob.expectOk('PUT', `/servers/${server.id}/globals/token`, { value: 'sk-canary', secret: true })
    const bindings = { town: { source: 'server', value: 'token' } }
    await bob.expectOk('POST', `/servers/${server.id}/instances`, { toolId: made.id, name: 'regional', bindings })
    await ada.expectOk('PATCH', `/tools/${made.id}`, patch)
    expect((await bob.send('PUT', use)).status).toBe(expected)
  })

  it('is not updated if that removes a tool in use; the error names the instance', async () => {
    const { toolkit, forecast, history, instance, use, used, url } = await share()
    await ada.expectOk('DELETE', `/tools/${forecast.id}`)
    await ada.expectOk('PATCH', `/tools/${history.id}`, { description: 'Edited' })
    const waiting = {
      version: expect.any(String),
      added: [],
      changed: [
        {
          name: 'history',
          fields: ['description'],
          changes: [{ field: 'description', from: null, to: 'Edited' }],
        },
      ],
      removed: ['forecast'],
    }
    expect((await used())?.snapshot?.update).toEqual(waiting)
    expect(await bob.send('PUT', use)).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/removes the tool "forecast".*"forecast" uses/) },
    })
    expect((await used())?.snapshot?.update).toEqual(waiting)
    expect((await callText(await connect(url), 'forecast', { town: 'Turin' })).isError).toBe(false)
    await bob.expectOk('DELETE', `/instances/${instance.id}`)
    expect((await bob.send('PUT', use)).status).toBe(204)
    expect((await bob.send('GET', `/toolkits/${toolkit.id}/tools`)).body).toMatchObject({
      items: [{ name: 'history' }],
    })
  })

  it('keeps working for its users once it is private, but cannot be added again', async () => {
    const { toolkit, use, used, url, server } = await share()
    await ada.expectOk('PATCH', `/toolkits/${toolkit.id}`, { visibility: 'private', title: 'Secret' })
    expect((await callText(await connect(url), 'forecast', { town: 'Turin' })).text).toContain('/forecast/Turin')
    expect(await used()).toMatchObject({ title: 'Weather', snapshot: { update: null } })
    expect((await bob.send('PUT', use)).status).toBe(404)
    const other = await bob.create('/servers', { name: 'Other', maxResponseTokens: 0 })
    expect((await bob.send('PUT', `/servers/${other.id}/toolkits/${toolkit.id}`)).status).toBe(404)
    expect((await bob.send('GET', `/toolkits/${toolkit.id}`)).status).toBe(404)
    const instances = await bob.send('GET', `/servers/${server.id}/instances`)
    expect(instances.body).toMatchObject({ items: [{ name: 'forecast' }] })
  })

  it('can be deleted by its owner without naming other users, and keeps working for them', async () => {
    const { toolkit, forecast, use, used, url, instance } = await share()
    expect((await ada.send('DELETE', `/tools/${forecast.id}`)).status).toBe(204)
    expect(await ada.send('DELETE', `/toolkits/${toolkit.id}`)).toMatchObject({ status: 204 })
    const client = await connect(url)
    expect(await toolNames(client)).toEqual(['forecast'])
    expect((await callText(client, 'forecast', { town: 'Turin' })).text).toContain('/forecast/Turin')
    expect(await used()).toMatchObject({ id: toolkit.id, snapshot: { update: null } })
    // The server that holds the snapshot can still be changed, and can remove the snapshot.
    expect(
      (await bob.send('PATCH', `/instances/${instance.id}`, { toolId: forecast.id, name: 'renamed' })).status,
    ).toBe(200)
    expect((await bob.send('DELETE', use)).status).toBe(409)
    await bob.expectOk('DELETE', `/instances/${instance.id}`)
    expect((await bob.send('DELETE', use)).status).toBe(204)
    expect((await bob.send('DELETE', use)).status).toBe(404)
  })

  it('cannot be deleted while servers of its owner use it; the error names only those', async () => {
    const { toolkit, forecast } = await share()
    const mine = await ada.create('/servers', { name: 'Ada’s own', maxResponseTokens: 0 })
    await ada.expectOk('POST', `/servers/${mine.id}/instances`, { toolId: forecast.id, name: 'forecast' })
    for (const path of [`/toolkits/${toolkit.id}`, `/tools/${forecast.id}`]) {
      const { status, body } = await ada.send('DELETE', path)
      expect(status).toBe(409)
      expect(JSON.stringify(body)).toContain('Ada’s own')
      expect(JSON.stringify(body)).not.toContain('Bob')
    }
    await ada.expectOk('DELETE', `/servers/${mine.id}`)
    expect((await ada.send('DELETE', `/toolkits/${toolkit.id}`)).status).toBe(204)
  })

  it('has a snapshot that nobody can find, edit or delete', async () => {
    const { toolkit, server } = await share()
    const { db } = patchbay.services
    const copy = await db.toolkit.findFirstOrThrow({ where: { serverId: server.id }, include: { tools: true } })
    const [copied] = copy.tools
    expect(copy.snapshotOfId).toBe(toolkit.id)
    for (const user of [ada, bob]) {
      for (const [method, path, body] of [
        ['GET', `/toolkits/${copy.id}`, undefined],
        ['PATCH', `/toolkits/${copy.id}`, { visibility: 'public' }],
        ['DELETE', `/toolkits/${copy.id}`, undefined],
        ['GET', `/toolkits/${copy.id}/tools`, undefined],
        ['POST', `/toolkits/${copy.id}/tools`, tool('more')],
        ['GET', `/tools/${copied?.id}`, undefined],
        ['PATCH', `/tools/${copied?.id}`, { url: 'https://evil.example' }],
        ['DELETE', `/tools/${copied?.id}`, undefined],
        ['PUT', `/servers/${server.id}/toolkits/${copy.id}`, undefined],
      ] as const) {
        expect((await user.send(method, path, body)).status, `${method} ${path}`).toBe(404)
      }
    }
    const gallery = await bob.send('GET', '/gallery?limit=200')
    expect(JSON.stringify(gallery.body)).not.toContain(copy.id)
  })

  it('cannot be removed from a server while its tools are used there; the error names them', async () => {
    const { instance, use, used } = await share()
    expect(await bob.send('DELETE', use)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('"forecast"') },
    })
    await bob.expectOk('DELETE', `/instances/${instance.id}`)
    await bob.expectOk('DELETE', use)
    await expect(used()).rejects.toThrow()
    await bob.expectOk('PUT', use)
    expect((await used())?.snapshot?.update).toBeNull()
  })

  it('is deleted with the server that holds the snapshot', async () => {
    const { server, toolkit } = await share()
    await bob.expectOk('DELETE', `/servers/${server.id}`)
    const { db } = patchbay.services
    expect(await db.toolkit.count({ where: { snapshotOfId: toolkit.id } })).toBe(0)
    expect((await ada.send('GET', `/toolkits/${toolkit.id}/tools`)).body).toMatchObject({ items: [{}, {}] })
  })

  it('is added once, also with ten requests at once', async () => {
    const { toolkit } = await share()
    const server = await bob.create('/servers', { name: 'Race', maxResponseTokens: 0 })
    const put = () => bob.send('PUT', `/servers/${server.id}/toolkits/${toolkit.id}`)
    const answers = await Promise.all(Array.from({ length: 10 }, put))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 204))
    expect(await patchbay.services.db.toolkit.count({ where: { serverId: server.id } })).toBe(1)
  })
})

describe('a private toolkit', () => {
  const patchbay = runPatchbay()

  it('cannot be used in another organization, even by a member of both', async () => {
    const [ada, bob] = [await signUp(patchbay.origin), await signUp(patchbay.origin)]
    const { db } = patchbay.services
    const toolkit = await ada.create('/toolkits', { title: 'Private' })
    const server = await bob.create('/servers', { name: 'Bob’s', maxResponseTokens: 0 })
    const { organizationId } = await db.toolkit.findUniqueOrThrow({ where: { id: toolkit.id } })
    await db.membership.create({ data: { organizationId, userId: bob.userId, role: 'viewer' } })
    expect((await bob.send('GET', `/toolkits/${toolkit.id}`)).status).toBe(200)
    expect((await bob.send('PUT', `/servers/${server.id}/toolkits/${toolkit.id}`)).status).toBe(404)
    await ada.expectOk('PATCH', `/toolkits/${toolkit.id}`, { visibility: 'public' })
    expect((await bob.send('PUT', `/servers/${server.id}/toolkits/${toolkit.id}`)).status).toBe(204)
    expect((await bob.send('GET', `/servers/${server.id}/toolkits`)).body).toMatchObject({
      items: [{ id: toolkit.id, snapshot: { update: null } }],
    })
  })
})
