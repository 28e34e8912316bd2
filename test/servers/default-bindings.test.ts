import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ApiClient, makeServer } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { signInToPages } from '../support/signed-in.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'
import { wiringText } from '../web/render-part.ts'
import { callText, connect, connectListening, toolNames } from './mcp.ts'

const Instance = z.looseObject({
  bindings: z.record(z.string(), z.unknown()),
  inputSchema: z.looseObject({ properties: z.record(z.string(), z.unknown()) }),
})

describe.each(databasesOfRun)('a tool whose parameters have default bindings, on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const fake = runFakeApi()
  const ada = runUser(patchbay)
  let base: string
  beforeAll(() => {
    base = fake.origin
  })

  const TOKEN = { binding: { source: 'server', key: 'api_token', secret: true } }
  const REGION = { binding: { source: 'server', key: 'region', secret: false } }
  const tool = (name: string, parameters: object = { token: TOKEN, region: REGION }) => ({
    name,
    method: 'GET',
    url: `${base}/${name}?id={{id}}&region={{region?}}`,
    headers: [{ name: 'x-token', value: '{{token}}' }],
    parameters,
  })
  const put = (serverId: string, key: string, body: object) =>
    ada.expectOk('PUT', `/servers/${serverId}/globals/${key}`, body)
  const putToken = (serverId: string) =>
    put(serverId, 'api_token', { value: 'sk-1', secret: true, origins: [fake.origin] })
  const instanceOf = async (id: string | undefined, api: ApiClient = ada) =>
    Instance.parse((await api.expectOk('GET', `/instances/${id}`)).body)
  const NEEDS =
    'This tool needs a value: "token" comes from the secret "api_token", which does not exist on this server. ' +
    'Add it on the server\'s Globals tab, or bind "token" to something else.'

  it('takes their values from the globals, and shows the model only the others', async () => {
    const { serverId, instanceIds, url } = await makeServer(ada, [tool('track')])
    await putToken(serverId)
    await put(serverId, 'region', { value: 'north' })
    const { bindings, inputSchema } = await instanceOf(instanceIds.track)
    expect(bindings).toEqual({
      token: { source: 'server', value: 'api_token' },
      region: { source: 'server', value: 'region' },
    })
    expect(Object.keys(inputSchema.properties)).toEqual(['id'])
    const client = await connect(url)
    expect(await callText(client, 'track', { id: '7' })).toMatchObject({ isError: false })
    expect(fake.seen.at(-1)).toMatchObject({ url: '/track?id=7&region=north', headers: { 'x-token': 'sk-1' } })
    expect(await callText(client, 'track', { id: '7', token: 'mine' })).toMatchObject({ isError: true })
  })

  it('is not listed and refuses calls while a required value is missing, and is announced once it exists', async () => {
    const { serverId, instanceIds, url } = await makeServer(ada, [tool('track')])
    const { client, lastNames } = await connectListening(url)
    expect(await toolNames(client)).toEqual([])
    const sent = fake.seen.length
    expect(await callText(client, 'track', { id: '7' })).toEqual({ text: NEEDS, isError: true })
    const called = await ada.expectOk('POST', `/instances/${instanceIds.track}/call`, { arguments: {} })
    expect(JSON.stringify(called.body)).toContain('needs a value')
    expect(fake.seen).toHaveLength(sent)
    await putToken(serverId)
    await expect.poll(lastNames).toEqual(['track'])
    expect(await callText(client, 'track', { id: '7' })).toMatchObject({ isError: false })
    // The optional parameter has no value either, and is left out.
    expect(fake.seen.at(-1)).toMatchObject({ url: '/track?id=7', headers: { 'x-token': 'sk-1' } })
    await ada.expectOk('DELETE', `/servers/${serverId}/globals/api_token`)
    await expect.poll(lastNames).toEqual([])
  })

  it('has its default from the tool, wherever that is written, while the server has no such global', async () => {
    const binding = { source: 'server', key: 'region' }
    const { serverId, url } = await makeServer(ada, [
      {
        name: 'track',
        method: 'GET',
        url: `${base}/{{area}}/{{region=north}}`,
        parameters: { area: { binding: { ...binding, key: 'area' }, default: 'all' }, region: { binding } },
      },
    ])
    const client = await connect(url)
    expect(await toolNames(client)).toEqual(['track'])
    expect(await callText(client, 'track')).toMatchObject({ isError: false })
    expect(fake.seen.at(-1)).toMatchObject({ url: '/all/north' })
    await put(serverId, 'area', { value: 'sea' })
    await callText(client, 'track')
    expect(fake.seen.at(-1)).toMatchObject({ url: '/sea/north' })
  })

  it('needs a secret where its binding says so: a plain global does not do', async () => {
    const { serverId, url } = await makeServer(ada, [tool('track')])
    await put(serverId, 'api_token', { value: 'plain' })
    const client = await connect(url)
    expect(await toolNames(client)).toEqual([])
    const { text } = await callText(client, 'track', { id: '7' })
    expect(text).toContain(
      'needs a value: "token" comes from the secret "api_token", which is stored on this server, but',
    )
    expect(text).not.toContain('plain')
  })

  it('is described by no list of a grouped server, and found by no search, while a value is missing', async () => {
    const other = { name: 'parcels', method: 'GET', url: `${base}/parcels`, description: 'Tracks parcels' }
    const { serverId, url } = await makeServer(ada, [{ ...tool('track'), description: 'Tracks parcels' }, other])
    const path = `/servers/${serverId}`
    await ada.expectOk('PATCH', path, { presentation: 'grouped' })
    const grouped = await connect(url)
    const inGroup = () => callText(grouped, 'get_dynamic_tools', { group: 'Toolkit' })
    expect((await inGroup()).text).toContain('"parcels"')
    expect((await inGroup()).text).not.toContain('"track"')
    const inner = { group: 'Toolkit', name: 'track', args: { id: '7' } }
    expect(await callText(grouped, 'call_dynamic_tool', inner)).toEqual({ text: NEEDS, isError: true })
    await ada.expectOk('PATCH', path, { presentation: 'search' })
    const searched = await connect(url)
    const find = () => callText(searched, 'find_tools', { queries: ['track parcels'] })
    expect((await find()).text).toContain('"parcels"')
    expect((await find()).text).not.toContain('"track"')
    await putToken(serverId)
    await expect.poll(async () => (await find()).text).toContain('"track"')
  })

  it('uses the binding that the instance sets for a parameter, and its default again once it is no longer bound', async () => {
    const own = { token: { source: 'instance', value: 'fixed' }, region: { source: 'exposed' } }
    const { serverId, instanceIds, url } = await makeServer(ada, [tool('track')], { bindings: { track: own } })
    await put(serverId, 'region', { value: 'north' })
    const client = await connect(url)
    expect(await toolNames(client)).toEqual(['track'])
    await callText(client, 'track', { id: '7', region: 'south' })
    expect(fake.seen.at(-1)).toMatchObject({ url: '/track?id=7&region=south', headers: { 'x-token': 'fixed' } })
    const { body } = await ada.expectOk('PATCH', `/instances/${instanceIds.track}`, { bindings: {} })
    // What the model supplies stays so.
    expect(Instance.parse(body).bindings).toEqual({ token: { source: 'server', value: 'api_token' } })
  })

  it('does not rewire existing instances when the tool gets a default binding or another one', async () => {
    const { serverId, toolIds, instanceIds, url } = await makeServer(ada, [tool('track', {})])
    await putToken(serverId)
    expect(await instanceOf(instanceIds.track)).toMatchObject({ bindings: {} })
    await ada.expectOk('PATCH', `/tools/${toolIds.track}`, { parameters: { token: TOKEN } })
    const client = await connect(url)
    await callText(client, 'track', { id: '7', token: 'mine' })
    expect(fake.seen.at(-1)).toMatchObject({ headers: { 'x-token': 'mine' } })
    // Bindings that are sent back as received do not rewire it either.
    await ada.expectOk('PATCH', `/instances/${instanceIds.track}`, { bindings: {} })
    expect(await instanceOf(instanceIds.track)).toMatchObject({ bindings: {} })
    const added = { toolId: toolIds.track, name: 'track_2' }
    const { id } = await ada.create(`/servers/${serverId}/instances`, added)
    const bound = { token: { source: 'server', value: 'api_token' } }
    expect(await instanceOf(id)).toMatchObject({ bindings: bound })
    const binding = { ...TOKEN.binding, key: 'other' }
    await ada.expectOk('PATCH', `/tools/${toolIds.track}`, { parameters: { token: { binding } } })
    expect(await instanceOf(id)).toMatchObject({ bindings: bound })
  })

  it('applies the defaults of another tool that an instance is changed to, except to what the model supplied', async () => {
    const plain = { name: 'plain', method: 'GET', url: `${base}/plain?region={{region?}}` }
    const { toolIds, instanceIds } = await makeServer(ada, [plain, tool('track')])
    await ada.expectOk('PATCH', `/instances/${instanceIds.plain}`, { toolId: toolIds.track })
    expect((await instanceOf(instanceIds.plain)).bindings).toEqual({ token: { source: 'server', value: 'api_token' } })
  })

  it.each([
    ['a global', { source: 'server', value: 'gone' }],
    ['a fixed value with a global in it', { source: 'instance', value: 'v1 {{gone}}' }],
  ])('is not listed while %s of an instance does not exist, whatever the tool says', async (_, token) => {
    const bindings = { track: { token } }
    for (const parameters of [{}, { token: TOKEN }]) {
      const { serverId, url } = await makeServer(ada, [tool('track', parameters)], { bindings })
      const client = await connect(url)
      expect(await toolNames(client)).toEqual([])
      const { text } = await callText(client, 'track', { id: '7' })
      expect(text).toContain('This tool needs a value: "token" comes from the ')
      await put(serverId, 'gone', { value: 'sk-2', secret: true, origins: [fake.origin] })
      await expect.poll(() => toolNames(client)).toEqual(['track'])
    }
  })

  it('is not listed if an optional parameter is bound by hand to a global that does not exist', async () => {
    const bindings = { track: { region: { source: 'server', value: 'gone' } } }
    const { url } = await makeServer(ada, [tool('track', {})], { bindings })
    const client = await connect(url)
    expect(await toolNames(client)).toEqual([])
    expect((await callText(client, 'track', { id: '7', token: 'x' })).text).toContain('needs a value: "region"')
  })

  it('has the fixed values of its defaults, which the model does not see', async () => {
    const LIMIT = { binding: { source: 'instance', value: 20 } }
    const BASE = { binding: { source: 'instance', value: '{{region}}-1' } }
    const definition = {
      ...tool('list', { limit: LIMIT, base: BASE }),
      url: `${base}/list?n={{integer:limit}}&b={{base}}`,
    }
    const { serverId, instanceIds, url } = await makeServer(ada, [{ ...definition, headers: [] }])
    await put(serverId, 'region', { value: 'north' })
    const { bindings, inputSchema } = await instanceOf(instanceIds.list)
    expect(bindings).toEqual({
      limit: { source: 'instance', value: 20 },
      base: { source: 'instance', value: '{{region}}-1' },
    })
    expect(Object.keys(inputSchema.properties)).toEqual([])
    expect(await callText(await connect(url), 'list', {})).toMatchObject({ isError: false })
    expect(fake.seen.at(-1)).toMatchObject({ url: '/list?n=20&b=north-1' })
  })

  it('refuses a fixed value that the parameter cannot have', async () => {
    const { toolkitId } = await makeServer(ada, [])
    const save = (binding: object) =>
      ada.send('POST', `/toolkits/${toolkitId}/tools`, {
        name: 'list',
        method: 'GET',
        url: `${base}/list?n={{integer:limit}}`,
        parameters: { limit: { binding, maximum: 50 } },
      })
    for (const value of ['many', 51, null, [20]]) {
      expect(await save({ source: 'instance', value })).toMatchObject({
        status: 400,
        body: { errors: [{ path: 'parameters.limit.binding.value' }] },
      })
    }
    expect(await save({ source: 'instance' })).toMatchObject({ status: 400 })
    expect(await save({ source: 'instance', value: 20, key: 'limit' })).toMatchObject({ status: 400 })
    expect(await save({ source: 'instance', value: '20' })).toMatchObject({ status: 201 })
  })

  it('refuses a default binding of an unknown parameter, source or key', async () => {
    const { toolkitId } = await makeServer(ada, [])
    const save = (parameters: object) => ada.send('POST', `/toolkits/${toolkitId}/tools`, tool('track', parameters))
    for (const parameters of [
      { other: TOKEN },
      { token: { binding: { ...TOKEN.binding, source: 'instance' } } },
      { token: { binding: { ...TOKEN.binding, key: 'a b' } } },
      { token: { binding: { source: 'server' } } },
    ]) {
      expect(await save(parameters)).toMatchObject({ status: 400 })
    }
  })

  describe('on the pages of a server', () => {
    it('has the defaults when it is added there, and the overview says that it needs a value', async () => {
      const { serverId, toolkitId, url } = await makeServer(ada, [])
      const { id: toolId } = await ada.create(`/toolkits/${toolkitId}/tools`, tool('track'))
      const page = await signInToPages(patchbay.origin, ada.email)
      const { html: offer } = await page.get(`/servers/${serverId}/tools/new`)
      expect(offer).toContain(`binds token to api_token, region to region, sent to ${fake.origin}`)
      const added = await page.submit(`/servers/${serverId}/tools/new`, { tool: toolId })
      expect(added.status).toBe(303)
      const overview = async () => wiringText((await page.get(`/servers/${serverId}`)).html)
      expect(await overview()).toContain('track GET · needs a value')
      expect(await overview()).toContain('token no “api_token”')
      expect((await page.get(`/servers/${serverId}/tools`)).html).toContain('missing global api_token')
      const publicPage = async () => (await fetch(url, { headers: { accept: 'text/html' } })).text()
      expect(await publicPage()).toContain('0 tools')
      await putToken(serverId)
      await expect.poll(publicPage).toContain('1 tool')
      expect(await overview()).toContain('track GET · not called')
      expect(await overview()).not.toContain('no “')
    })

    it('supplies a parameter from the model if its builder chooses so there', async () => {
      const { serverId, instanceIds } = await makeServer(ada, [tool('track')])
      const page = await signInToPages(patchbay.origin, ada.email)
      const { updatedAt } = z
        .looseObject({ updatedAt: z.string() })
        .parse((await ada.expectOk('GET', `/instances/${instanceIds.track}`)).body)
      const form = { name: 'track', version: updatedAt, 'source:token': 'exposed', 'source:region': 'global' }
      const path = `/servers/${serverId}/tools/${instanceIds.track}`
      await page.get(path)
      await page.submit(path, { ...form, 'global:region': 'region' })
      expect((await instanceOf(instanceIds.track)).bindings).toEqual({
        token: { source: 'exposed' },
        region: { source: 'server', value: 'region' },
      })
    })
  })
})
