import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { signUp } from '../support/api-client.ts'
import { unescapeHtml } from '../support/page-browser.ts'
import { signInToPages } from '../support/signed-in.ts'
import { runPatchbay } from '../support/world.ts'

vi.setConfig({ testTimeout: 30_000 })

const Problem = z.object({ detail: z.string(), errors: z.array(z.object({ path: z.string() })).optional() })
const BROKEN = 'https://a.example/{{id'

describe('a tool whose template or schema is invalid', () => {
  const patchbay = runPatchbay()

  const begin = async () => {
    const api = await signUp(patchbay.origin)
    const browser = await signInToPages(patchbay.origin, api.email)
    const toolkit = await api.create('/toolkits', { title: 'Mine' })
    const path = `/toolkits/${toolkit.id}/tools/new`
    /** Saves a tool on the page, invalid or not, and returns its path. */
    const save = async (fields: Record<string, string>): Promise<string> => {
      await browser.get(path)
      const form = { name: 'get_thing', method: 'GET', url: BROKEN, saveInvalid: 'yes', ...fields }
      const saved = await browser.submit(path, form)
      expect(saved.status).toBe(303)
      return (saved.location ?? '').replace(/\?.*/, '')
    }
    const server = await api.create('/servers', { name: 'Desk' })
    const addByApi = (toolId: string) =>
      api.send('POST', `/servers/${server.id}/instances`, { toolId, name: 'get_thing' })
    return { api, browser, path, save, server, addByApi }
  }

  it('is refused at first, with the offer to save it as it is', async () => {
    const { browser, path } = await begin()
    await browser.get(path)
    const refused = await browser.submit(path, { name: 'get_thing', method: 'GET', url: BROKEN })
    expect(refused.status).toBe(400)
    expect(refused.html).toContain('name="saveInvalid" value="yes">Save anyway')
  })

  it('is saved as it is, and cannot be added to a server until it is fixed', async () => {
    const { api, browser, save, server, addByApi } = await begin()
    const path = await save({})
    const toolId = path.replace('/tools/', '')
    const { html } = await browser.get(path)
    expect(html).toContain('Cannot be used until this is fixed: url: line 1')
    expect(html).toContain(BROKEN)
    expect(html).not.toContain('Add this tool to a server')
    expect((await api.send('GET', `/tools/${toolId}`)).body).toMatchObject({
      url: BROKEN,
      problem: expect.stringMatching(/^url: line 1/),
    })

    const refused = await addByApi(toolId)
    expect(refused.status).toBe(400)
    expect(Problem.parse(refused.body)).toMatchObject({
      detail: expect.stringContaining('The tool "get_thing" cannot be used until it is fixed: url: line 1'),
      errors: [{ path: 'toolId' }],
    })
    const adding = `/servers/${server.id}/tools/new`
    const offered = unescapeHtml((await browser.get(adding)).html)
    expect(offered).toContain('cannot be used until fixed: url: line 1')
    const added = await browser.submit(adding, { tool: toolId })
    expect(added.status).toBe(400)
    expect(unescapeHtml(added.html)).toContain('cannot be used until it is fixed')
    const offer = await browser.submit(`${path}/offer`, { server: server.id, serverName: '' })
    expect(offer.status).toBe(400)

    await browser.get(path)
    const fixed = await browser.submit(path, { name: 'get_thing', method: 'GET', url: `${BROKEN}}}` })
    expect(fixed.status).toBe(303)
    expect((await api.send('GET', `/tools/${toolId}`)).body).toMatchObject({ problem: null })
    expect((await addByApi(toolId)).status).toBe(201)
  })

  it.each([
    ['a body', { url: 'https://a.example/', body: '{{json:a' }, 'body: '],
    ['an output schema', { url: 'https://a.example/', outputSchema: '{"type": "nothing"}' }, 'outputSchema: '],
    ['an input schema', { url: 'https://a.example/', inputSchema: '{"type": "array"}' }, 'inputSchema: '],
  ])('can have %s that is invalid', async (_, fields, problem) => {
    const { browser, save } = await begin()
    const { html } = await browser.get(await save(fields))
    expect(unescapeHtml(html)).toContain(`Cannot be used until this is fixed: ${problem}`)
  })

  it.each([
    ['a name that is not allowed', { name: '订单' }],
    ['a header without a value', { headers: 'nothing' }],
    ['a schema that is not JSON', { inputSchema: '{' }],
    ['no URL', { url: '' }],
  ])('is still refused for %s', async (_, fields) => {
    const { browser, path } = await begin()
    await browser.get(path)
    const form = { name: 'get_thing', method: 'GET', url: BROKEN, saveInvalid: 'yes', ...fields }
    const refused = await browser.submit(path, form)
    expect(refused.status).toBe(400)
    expect(refused.html).not.toContain('Save anyway')
  })

  it('is refused while a server uses it, and always by API', async () => {
    const { api, browser, save, addByApi } = await begin()
    const path = await save({ url: 'https://a.example/{{id}}' })
    const toolId = path.replace('/tools/', '')
    expect((await addByApi(toolId)).status).toBe(201)
    await browser.get(path)
    const form = { name: 'get_thing', method: 'GET', url: BROKEN, saveInvalid: 'yes' }
    const refused = await browser.submit(path, form)
    expect(refused.status).toBe(400)
    expect(refused.html).not.toContain('Save anyway')
    expect((await api.send('GET', `/tools/${toolId}`)).body).toMatchObject({ problem: null })
    expect((await api.send('PATCH', `/tools/${toolId}`, { url: BROKEN })).status).toBe(400)
  })

  it('is refused while a server uses it that is closed to the user, with the reason', async () => {
    const { api: owner, save, server, addByApi } = await begin()
    const path = await save({ url: 'https://a.example/{{id}}' })
    expect((await addByApi(path.replace('/tools/', ''))).status).toBe(201)
    const { organizationId } = await owner.create('/servers', { name: 'Other' })
    const builder = await patchbay.member(String(organizationId), 'builder')
    await owner.expectOk('PATCH', `/servers/${server.id}`, { access: 'private' })
    const browser = await signInToPages(patchbay.origin, builder.email)
    await browser.get(path)
    const form = { name: 'get_thing', method: 'GET', url: BROKEN }
    expect((await browser.submit(path, form)).html).toContain('Save anyway')
    const { status, html } = await browser.submit(path, { ...form, saveInvalid: 'yes' })
    expect(status).toBe(400)
    expect(html).toContain('A server uses this tool, so it must be valid.')
    expect(html).not.toContain('Save anyway')
  })

  it('does not keep a typed name from becoming a valid one', async () => {
    const { api, save } = await begin()
    const path = await save({ name: 'Get order', url: 'https://a.example/' })
    expect((await api.send('GET', path)).body).toMatchObject({ name: 'get_order' })
  })
})

describe('the secrets of tools that are added to a server', () => {
  const patchbay = runPatchbay()

  it('are asked for on the next page, stored as secrets, and not asked for again', async () => {
    const api = await signUp(patchbay.origin)
    const browser = await signInToPages(patchbay.origin, api.email)
    const toolkit = await api.create('/toolkits', { title: 'Mine' })
    const tool = await api.create(`/toolkits/${toolkit.id}/tools`, {
      name: 'get_thing',
      method: 'GET',
      url: 'https://a.example/',
      headers: [{ name: 'Authorization', value: 'Bearer {{token}}' }],
      parameters: { token: { binding: { source: 'server', key: 'a_token', secret: true } } },
    })
    const server = await api.create('/servers', { name: 'Desk' })
    await browser.get(`/servers/${server.id}/tools/new`)
    const added = await browser.submit(`/servers/${server.id}/tools/new`, { tool: tool.id })
    const values = `/servers/${server.id}/tools/values`
    expect(added.location).toBe(`${values}?done=added&count=1`)
    const asked = await browser.get(added.location ?? '')
    expect(asked.html).toContain(
      '<input class="input" id="value:a_token" name="value:a_token" type="password" value=""',
    )
    expect(asked.html).toContain('Needed by get_thing. Sent only to https://a.example.')
    const origins = { 'origins:a_token': 'https://a.example' }
    const stored = await browser.submit(values, { 'value:a_token': 'sk-4f9XbQ27', 'value:other': 'x', ...origins })
    expect(stored.location).toBe(`/servers/${server.id}/tools?done=values&count=1`)
    const { body } = await api.send('GET', `/servers/${server.id}/globals`)
    expect(body).toMatchObject({ items: [{ key: 'a_token', secret: true, origins: ['https://a.example'] }] })
    expect((await browser.get(values)).html).toContain('No values are missing')
  })

  it('get a key with the name of the host if theirs is taken by a secret for other origins', async () => {
    const api = await signUp(patchbay.origin)
    const browser = await signInToPages(patchbay.origin, api.email)
    const toolkit = await api.create('/toolkits', { title: 'Mine' })
    const tool = await api.create(`/toolkits/${toolkit.id}/tools`, {
      name: 'get_thing',
      method: 'GET',
      url: 'https://api.kestrel.example/?api_key={{api_key}}',
      parameters: { api_key: { binding: { source: 'server', key: 'api_key', secret: true } } },
    })
    const server = await api.create('/servers', { name: 'Desk' })
    await api.expectOk('PUT', `/servers/${server.id}/globals/api_key`, {
      value: 'sk-of-others',
      secret: true,
      origins: ['https://api.carrier.example'],
    })
    await browser.get(`/servers/${server.id}/tools/new`)
    const added = await browser.submit(`/servers/${server.id}/tools/new`, { tool: tool.id })
    const asked = await browser.get(added.location ?? '')
    expect(asked.html).toContain('name="value:kestrel_api_key" type="password"')
    await browser.submit(`/servers/${server.id}/tools/values`, {
      'value:kestrel_api_key': 'sk-4f9XbQ27',
      'origins:kestrel_api_key': 'https://api.kestrel.example',
    })
    const { body } = await api.send('GET', `/servers/${server.id}/globals`)
    const stored = { key: 'kestrel_api_key', secret: true, origins: ['https://api.kestrel.example'] }
    expect(body).toMatchObject({ items: expect.arrayContaining([expect.objectContaining(stored)]) })
  })

  /** A server, and tools of these URLs with an `api_key` that each of them keeps as a secret. */
  const withKeys = async (urls: Readonly<Record<string, string>>) => {
    const api = await signUp(patchbay.origin)
    const browser = await signInToPages(patchbay.origin, api.email)
    const toolkit = await api.create('/toolkits', { title: 'Mine' })
    const ids: string[] = []
    for (const [name, url] of Object.entries(urls)) {
      const parameters = { api_key: { binding: { source: 'server', key: 'api_key', secret: true } } }
      const tool = await api.create(`/toolkits/${toolkit.id}/tools`, { name, method: 'GET', url, parameters })
      ids.push(tool.id)
    }
    const server = await api.create('/servers', { name: 'Desk' })
    const path = `/servers/${server.id}`
    const add = async (tool: string) => {
      await browser.get(`${path}/tools/new`)
      return browser.submit(`${path}/tools/new`, { tool })
    }
    return { api, browser, ids, path, add }
  }
  const KESTREL = 'https://api.kestrel.example/?api_key={{api_key}}'
  const CARRIER = 'https://api.carrier.example/?api_key={{api_key}}'

  it('are not the same secret for two APIs that both call theirs api_key', async () => {
    const { browser, ids, path, add } = await withKeys({ kestrel: KESTREL, carrier: CARRIER })
    for (const id of ids) await add(id)
    const { html } = await browser.get(`${path}/tools/values`)
    expect(html).toContain('Needed by kestrel. Sent only to https://api.kestrel.example.')
    expect(html).toContain('name="value:carrier_api_key" type="password"')
    expect(html).toContain('Needed by carrier. Sent only to https://api.carrier.example.')
  })

  it('do not take the place of a global with the same key that is not a secret', async () => {
    const { api, browser, ids, path, add } = await withKeys({ kestrel: KESTREL })
    await api.expectOk('PUT', `${path}/globals/api_key`, { value: 'of something else' })
    for (const id of ids) await add(id)
    expect((await browser.get(`${path}/tools/values`)).html).toContain('name="value:kestrel_api_key"')
  })

  it('are sent nowhere that the page did not name when they were typed', async () => {
    const { api, browser, ids, path, add } = await withKeys({ kestrel: KESTREL })
    for (const id of ids) await add(id)
    await browser.get(`${path}/tools/values`)
    for (const id of ids) await api.expectOk('PATCH', `/tools/${id}`, { url: CARRIER })
    await browser.submit(`${path}/tools/values`, {
      'value:api_key': 'sk-4f9XbQ27',
      'origins:api_key': 'https://api.kestrel.example',
    })
    const { body } = await api.send('GET', `${path}/globals`)
    expect(body).toMatchObject({ items: [{ key: 'api_key', secret: true, origins: [] }] })
  })
})
