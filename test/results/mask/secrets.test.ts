import { describe, expect, it } from 'vitest'
import { makeServer } from '../../support/api-client.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'

const SECRET = `sk-live/4+2 "quoted" 'é'`

describe('a secret of a server', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi()
  const builder = runUser(patchbay)

  const tool = () => ({
    name: 'tool',
    method: 'POST',
    url: `${fake.origin}/items/{{id}}?key={{apiKey}}`,
    headers: [{ name: 'Authorization', value: 'Basic {{apiKey}}' }],
    body: '{"key": "{{apiKey}}", "note": {{note}}}',
  })
  const make = async () => {
    const made = await makeServer(builder, [tool()], {
      bindings: {
        tool: { apiKey: { source: 'server' }, note: { source: 'instance', value: 'holds {{apiKey}} as well' } },
      },
    })
    await builder.expectOk('PUT', `/servers/${made.serverId}/globals/apiKey`, { value: SECRET, secret: true })
    return made
  }

  it('reaches the API and is masked in the answer that echoes it', async () => {
    const { instanceIds } = await make()
    const { body } = await builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, {
      arguments: { id: '1' },
    })
    const seen = fake.seen.at(-1)
    expect(new URL(seen?.url ?? '', fake.origin).searchParams.get('key')).toBe(SECRET)
    expect(JSON.parse(seen?.body ?? '')).toEqual({ key: SECRET, note: `holds ${SECRET} as well` })
    const shown = JSON.stringify(body)
    expect(shown).toContain('•••')
    for (const form of [SECRET, JSON.stringify(SECRET).slice(1, -1), encodeURIComponent(SECRET)]) {
      expect(shown).not.toContain(form)
    }
    expect(shown).not.toContain('sk-live')
  })

  it('is masked in the test of the tool, its cURL, and the history', async () => {
    const { serverId, toolIds, instanceIds } = await make()
    await builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: { id: '1' } })
    const tested = await builder.expectOk('POST', `/tools/${toolIds.tool}/test`, {
      arguments: { id: '1', note: 'n' },
      serverId,
    })
    const history = await builder.expectOk('GET', `/servers/${serverId}/executions`)
    const { body: globals } = await builder.expectOk('GET', `/servers/${serverId}/globals`)
    for (const body of [tested.body, history.body, globals]) expect(JSON.stringify(body)).not.toContain('sk-live')
    expect(tested.body).toMatchObject({
      curl: expect.stringContaining("curl --globoff -X 'POST' 'http"),
      response: { status: 200 },
    })
    expect(history.body).toMatchObject({
      items: [{ tool: 'tool', outcome: 'ok', status: 200, request: { method: 'POST' } }],
    })
    expect(globals).toMatchObject({ items: [{ key: 'apiKey', secret: true }] })
  })

  const REWRITTEN = [
    ['a base URL with a host in capitals', '{{url:secret}}/items', '{}', 'HTTP://LOCALHOST:9/canary/'],
    ['a base URL with a letter beyond ASCII', '{{url:secret}}/items', '{}', 'http://localhost:9/canary-\u00e4'],
    ['a whole URL', '{{url:secret}}', '{}', 'HTTP://localhost:9/?key=canary'],
    ['JSON with blanks', 'http://localhost:9/', '{"by": {{json:secret}}}', '{ "user": "u",\n "password": "canary" }'],
    ['JSON with escapes', 'http://localhost:9/', '{"by": {{json:secret}}}', '["c\\u0061nary"]'],
  ] as const
  it.each(REWRITTEN)('is masked where it is sent otherwise than it was given: %s', async (_what, url, body, value) => {
    const { serverId, toolIds, instanceIds } = await makeServer(
      builder,
      [{ name: 'tool', method: 'POST', url, body }],
      {
        bindings: { tool: { secret: { source: 'server' } } },
      },
    )
    await builder.expectOk('PUT', `/servers/${serverId}/globals/secret`, { value, secret: true })
    await builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: {} })
    const tested = await builder.expectOk('POST', `/tools/${toolIds.tool}/test`, { arguments: {}, serverId })
    const history = await builder.expectOk('GET', `/servers/${serverId}/executions`)
    expect(tested.body).toMatchObject({ request: { method: 'POST' }, curl: expect.stringContaining('•••') })
    expect(history.body).toMatchObject({ items: [{ tool: 'tool', request: { method: 'POST' } }] })
    for (const shown of [tested.body, history.body]) expect(JSON.stringify(shown)).not.toContain('canary')
  })

  it('is found in a fixed JSON text as well, however its braces are written', async () => {
    const toolkit = await builder.create('/toolkits', { title: 'Open JSON' })
    const server = await builder.create('/servers', { name: 'Open JSON' })
    const open = await builder.create(`/toolkits/${toolkit.id}/tools`, {
      name: 'open',
      method: 'POST',
      url: '{{url:base}}/items',
      body: '{"extra": {{json:extra}}}',
    })
    await builder.expectOk('PUT', `/servers/${server.id}/globals/apiKey`, { value: SECRET, secret: true })
    const extra = { source: 'instance', value: '{"k":"\\u007b\\u007bapiKey}}"}' }
    const instance = { toolId: open.id, name: 'open', bindings: { extra } }
    expect((await builder.send('POST', `/servers/${server.id}/instances`, instance)).status).toBe(400)
  })

  it('is refused beside a base URL that the caller chooses, naming both', async () => {
    const toolkit = await builder.create('/toolkits', { title: 'Open' })
    const server = await builder.create('/servers', { name: 'Open' })
    const open = await builder.create(`/toolkits/${toolkit.id}/tools`, {
      name: 'open',
      method: 'GET',
      url: '{{url:base}}/items?key={{apiKey}}',
    })
    await builder.expectOk('PUT', `/servers/${server.id}/globals/apiKey`, { value: SECRET, secret: true })
    const instance = { toolId: open.id, name: 'open', bindings: { apiKey: { source: 'server' } } }
    const refused = await builder.send('POST', `/servers/${server.id}/instances`, instance)
    expect(refused.status).toBe(400)
    expect(JSON.stringify(refused.body)).toMatch(/base/)
    expect(JSON.stringify(refused.body)).toMatch(/apiKey/)
  })

  it('goes only to the allowed origins where the caller chooses the origin', async () => {
    const { instanceIds, serverId } = await makeServer(
      builder,
      [
        {
          name: 'open',
          method: 'GET',
          url: '{{url:base}}/items?key={{apiKey}}',
          allowedOrigins: [fake.origin],
        },
      ],
      { bindings: { open: { apiKey: { source: 'server' } } } },
    )
    await builder.expectOk('PUT', `/servers/${serverId}/globals/apiKey`, { value: SECRET, secret: true })
    const call = (base: string) =>
      builder.expectOk('POST', `/instances/${instanceIds.open}/call`, { arguments: { base } })
    expect((await call(fake.origin)).body).not.toHaveProperty('isError')
    const other = await call('http://127.0.0.1:9')
    expect(other.body).toMatchObject({ isError: true })
    expect(JSON.stringify(other.body)).toMatch(/allowed/i)
  })

  it('cannot be made out of a global that an open tool sends already', async () => {
    const { serverId } = await makeServer(
      builder,
      [{ name: 'open', method: 'GET', url: '{{url:base}}/items?key={{apiKey}}' }],
      { bindings: { open: { apiKey: { source: 'server' } } } },
    )
    const refused = await builder.send('PUT', `/servers/${serverId}/globals/apiKey`, { value: SECRET, secret: true })
    expect(refused.status).toBe(400)
    expect(JSON.stringify(refused.body)).toMatch(/"open\\?"|open/)
  })
})
