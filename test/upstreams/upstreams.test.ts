import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readEntries } from '../identity/audit/audit-world.ts'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { runPatchbay } from '../support/world.ts'

const REMOTE = { transport: 'http', url: 'https://mcp.example.com/mcp' }
const SECRET = 'sk-canary-0f3a'
const Refused = z.object({ errors: z.array(z.object({ path: z.string(), message: z.string() })) })

describe.each(databasesOfRun)('upstreams of a server, on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  let ada: ApiClient & { userId: string }
  let organizationId: string
  beforeAll(async () => {
    await signUp(patchbay.origin, 'operator@example.com')
    ada = await signUp(patchbay.origin)
    const membership = await patchbay.services.db.membership.findFirstOrThrow({ where: { userId: ada.userId } })
    organizationId = membership.organizationId
  })
  const makeServer = async () => (await ada.create('/servers', { name: 'Attached' })).id
  const pathOf = (serverId: string) => `/servers/${serverId}/upstreams`

  it('are returned as they were created, with defaults, in the list and alone', async () => {
    const serverId = await makeServer()
    const made = await ada.create(pathOf(serverId), { name: 'issues', ...REMOTE })
    const { id, ...rest } = made
    expect(rest).toMatchObject({
      serverId,
      name: 'issues',
      description: null,
      transport: 'http',
      url: 'https://mcp.example.com/mcp',
      headers: {},
      command: null,
      args: null,
      env: null,
      cwd: null,
      auth: { type: 'none' },
      eager: false,
      features: { tools: true, resources: true, prompts: true },
      allow: null,
      deny: null,
      timeoutMs: 10_000,
      prefix: null,
      enabled: true,
      globals: [],
      missingGlobals: [],
      state: { kind: 'idle' },
    })
    expect((await ada.expectOk('GET', `/upstreams/${id}`)).body).toEqual(made)
    expect((await ada.expectOk('GET', pathOf(serverId))).body).toEqual({ items: [made], nextCursor: null })
  })

  it('are listed page by page', async () => {
    const serverId = await makeServer()
    for (const name of ['a', 'b', 'c']) await ada.create(pathOf(serverId), { name, ...REMOTE })
    const Page = z.object({ items: z.array(z.object({ name: z.string() })), nextCursor: z.string().nullable() })
    const first = Page.parse((await ada.expectOk('GET', `${pathOf(serverId)}?limit=2`)).body)
    const cursor = z.string().parse(first.nextCursor)
    const second = Page.parse((await ada.expectOk('GET', `${pathOf(serverId)}?limit=2&cursor=${cursor}`)).body)
    expect([...first.items, ...second.items].map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    expect(second.nextCursor).toBeNull()
  })

  it('change field by field, drop fields set to null, and can be sent back unchanged', async () => {
    const made = await ada.create(pathOf(await makeServer()), {
      name: 'docs',
      ...REMOTE,
      headers: { 'X-Team': 'blue', Authorization: 'Bearer {{token}}' },
      features: { prompts: false },
      allow: ['read_*'],
      timeoutMs: 5_000,
    })
    const path = `/upstreams/${made.id}`
    expect((await ada.expectOk('PATCH', path, made)).body).toMatchObject({ ...made, updatedAt: expect.any(String) })
    const change = { features: { resources: false }, allow: null, timeoutMs: null, enabled: false, transport: 'sse' }
    expect((await ada.expectOk('PATCH', path, change)).body).toMatchObject({
      name: 'docs',
      transport: 'sse',
      url: REMOTE.url,
      headers: { 'X-Team': 'blue', Authorization: 'Bearer {{token}}' },
      features: { tools: true, resources: false, prompts: false },
      allow: null,
      timeoutMs: 10_000,
      enabled: false,
      state: { kind: 'disabled' },
    })
    expect(await ada.send('PATCH', path, { serverId: made.id })).toMatchObject({ status: 400 })
    await ada.expectOk('DELETE', path)
    expect((await ada.send('GET', path)).status).toBe(404)
  })

  it('name the globals that they use and those that are missing; only the connection gets the values', async () => {
    const serverId = await makeServer()
    const { id } = await ada.create(pathOf(serverId), {
      name: 'keyed',
      transport: 'http',
      url: 'https://mcp.example.com/{{tenant}}/mcp?key={{token}}',
      headers: { Authorization: 'Bearer {{token}}', 'X-As-Written': `\${HOME} \\{{x}}` },
    })
    const { upstreamLoading, db } = patchbay.services
    expect((await ada.expectOk('GET', `/upstreams/${id}`)).body).toMatchObject({
      globals: ['tenant', 'token'],
      missingGlobals: ['tenant', 'token'],
    })
    expect(await upstreamLoading.resolveUpstream(id)).toMatchObject({
      ok: false,
      error: { reason: 'missing_globals', message: expect.stringContaining('"tenant", "token"') },
    })
    await ada.expectOk('PUT', `/servers/${serverId}/globals/token`, { value: `${SECRET}&x`, secret: true })
    await ada.expectOk('PUT', `/servers/${serverId}/globals/tenant`, { value: 'a/b' })
    expect(await upstreamLoading.resolveUpstream(id)).toMatchObject({
      ok: true,
      value: {
        organizationId,
        url: `https://mcp.example.com/a%2Fb/mcp?key=${SECRET}%26x`,
        headers: { Authorization: `Bearer ${SECRET}&x`, 'X-As-Written': `\${HOME} {{x}}` },
        secrets: [`${SECRET}&x`],
      },
    })
    const shown = JSON.stringify([
      (await ada.expectOk('GET', `/upstreams/${id}`)).body,
      (await ada.expectOk('GET', pathOf(serverId))).body,
      await db.upstream.findMany(),
      await readEntries(ada, `/organizations/${organizationId}/audit`),
    ])
    expect(shown).toContain('{{token}}')
    expect(shown).not.toContain(SECRET)
  })

  it.each([
    ['a line break for a header', { headers: { 'X-A': '{{v}}' } }, `${SECRET}\r\nX-B: 1`],
    ['".." for a segment of the path', { url: 'https://mcp.example.com/{{v}}/mcp' }, '..'],
    ['credentials for the origin', { url: '{{v}}/mcp' }, `https://me:${SECRET}@mcp.example.com`],
    ['another scheme for the origin', { url: '{{v}}/mcp' }, 'file:///etc'],
    ['a path for a label of the host', { url: 'https://{{v}}.example.com/' }, 'a/b'],
  ])('cannot connect with a global that contains %s, which is named but not shown', async (_what, fault, value) => {
    const serverId = await makeServer()
    const { id } = await ada.create(pathOf(serverId), { name: 'bent', ...REMOTE, ...fault })
    await ada.expectOk('PUT', `/servers/${serverId}/globals/v`, { value })
    const resolved = await patchbay.services.upstreamLoading.resolveUpstream(id)
    expect(resolved).toMatchObject({ ok: false, error: { reason: 'unfit_value' } })
    expect(JSON.stringify(resolved)).toContain('The global \\"v\\"')
    expect(JSON.stringify(resolved)).not.toContain(SECRET)
  })

  it('accept a secret in the URL only if the origin is fixed, whichever is set first', async () => {
    const serverId = await makeServer()
    const put = (key: string, value: string, secret: boolean) =>
      ada.send('PUT', `/servers/${serverId}/globals/${key}`, { value, secret })
    await put('token', SECRET, true)
    await put('base', 'https://mcp.example.com/', false)
    const create = (name: string, url: string) => ada.send('POST', pathOf(serverId), { name, transport: 'http', url })
    for (const url of ['{{base}}/{{token}}', '{{token}}', 'https://{{token}}.example.com/', '{{base}}?key={{token}}']) {
      expect(await create('leaky', url)).toMatchObject({
        status: 400,
        body: { errors: [{ path: 'url', message: expect.stringContaining('secret "token"') }] },
      })
    }
    expect((await create('fixed', 'https://mcp.example.com/{{token}}')).status).toBe(201)
    const open = await create('open', '{{base}}/mcp')
    expect(open).toMatchObject({ status: 201, body: { globals: ['base'] } })
    const { id } = z.object({ id: z.string() }).parse(open.body)
    expect(await patchbay.services.upstreamLoading.resolveUpstream(id)).toMatchObject({
      ok: true,
      value: { url: 'https://mcp.example.com/mcp' },
    })
    expect(await put('base', 'https://mcp.example.com/', true)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('"open"') },
    })
    expect((await put('base', 'https://other.example.com', false)).status).toBe(200)
  })

  it.each([
    ['a URL that is none', { url: 'mcp.example.com' }, 'url'],
    ['another scheme', { url: 'ftp://mcp.example.com/' }, 'url'],
    ['credentials in the URL', { url: 'https://me:pw@mcp.example.com/' }, 'url'],
    ['a global in the port', { url: 'https://mcp.example.com:{{port}}/' }, 'url'],
    ['braces that are not closed', { url: 'https://mcp.example.com/{{x' }, 'url'],
    ['a typed place', { url: 'https://mcp.example.com/{{integer:x}}' }, 'url'],
    ['an optional place', { headers: { 'X-Key': '{{x?}}' } }, 'headers.X-Key'],
    ['a URL of 9,000 characters', { url: `https://mcp.example.com/${'a'.repeat(9_000)}` }, 'url'],
    ['no URL', { url: null }, 'url'],
    ['a header that the connection decides', { headers: { Host: 'x' } }, 'headers.Host'],
    ['a header that the protocol says', { headers: { 'mcp-session-id': 'x' } }, 'headers.mcp-session-id'],
    ['a header twice', { headers: { 'X-A': '1', 'x-a': '2' } }, 'headers.x-a'],
    ['a header that is no name', { headers: { 'X A': '1' } }, 'headers.X A'],
    ['a line break in a header', { headers: { 'X-A': '1\r\nX-B: 2' } }, 'headers.X-A'],
    ['fields of a command', { command: 'npx', args: ['x'] }, 'command'],
    ['a name with a blank', { name: 'my server' }, 'name'],
    ['a name of 300 characters', { name: 'a'.repeat(300) }, 'name'],
    ['a reserved name', { name: 'proxy_x' }, 'name'],
    ['an empty prefix', { prefix: '' }, 'prefix'],
    ['a pattern with a blank', { allow: ['a b'] }, 'allow[0]'],
    ['an empty pattern', { deny: [''] }, 'deny[0]'],
    ['201 patterns', { deny: Array.from({ length: 201 }, (_, at) => `p${at}`) }, 'deny'],
    ['no time', { timeoutMs: 0 }, 'timeoutMs'],
    ['more time than there is', { timeoutMs: 300_001 }, 'timeoutMs'],
    ['another transport', { transport: 'websocket' }, 'transport'],
    ['sign-in that is not known', { auth: { type: 'basic' } }, 'auth.type'],
    [
      'headers beyond 64 KiB',
      { headers: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`X-${at}`, 'v'.repeat(4_000)])) },
      'url',
    ],
  ])('reject %s, naming the field', async (_what, fault, path) => {
    const serverId = await makeServer()
    const answer = await ada.send('POST', pathOf(serverId), { name: 'bad', ...REMOTE, ...fault })
    expect(answer.status).toBe(400)
    expect(Refused.parse(answer.body).errors.map(error => error.path)).toContain(path)
    const { id } = await ada.create(pathOf(serverId), { name: 'good', ...REMOTE })
    if (!('url' in fault) || fault.url !== null) {
      expect((await ada.send('PATCH', `/upstreams/${id}`, fault)).status).toBe(400)
    }
  })

  it('have names that are unique within a server', async () => {
    const serverId = await makeServer()
    await ada.create(pathOf(serverId), { name: 'one', ...REMOTE })
    const two = await ada.create(pathOf(serverId), { name: 'two', ...REMOTE })
    const taken = { status: 409, body: { errors: [{ path: 'name' }] } }
    expect(await ada.send('POST', pathOf(serverId), { name: 'one', ...REMOTE })).toMatchObject(taken)
    expect(await ada.send('PATCH', `/upstreams/${two.id}`, { name: 'one' })).toMatchObject(taken)
    expect((await ada.send('POST', pathOf(await makeServer()), { name: 'one', ...REMOTE })).status).toBe(201)
  })

  it('are limited to 100 per server', async () => {
    const serverId = await makeServer()
    const { id } = await ada.create(pathOf(serverId), { name: 'first', ...REMOTE })
    const { db } = patchbay.services
    const { config } = await db.upstream.findUniqueOrThrow({ where: { id } })
    const stored = z.record(z.string(), z.json()).parse(config)
    const rows = Array.from({ length: 99 }, (_, at) => ({ serverId, name: `u${at}`, config: stored }))
    await db.upstream.createMany({ data: rows.map(row => ({ ...row, transport: 'http' as const })) })
    expect(await ada.send('POST', pathOf(serverId), { name: 'more', ...REMOTE })).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining('100') },
    })
  })

  it('are audited when created, changed (with fields and destination) and removed, without values', async () => {
    const serverId = await makeServer()
    const headers = { Authorization: `Bearer ${SECRET}` }
    const { id } = await ada.create(pathOf(serverId), { name: 'kept', ...REMOTE })
    await ada.expectOk('PATCH', `/upstreams/${id}`, { headers, url: 'https://elsewhere.example.com/mcp' })
    await ada.expectOk('PATCH', `/upstreams/${id}`, { headers })
    await ada.expectOk('PATCH', `/upstreams/${id}`, { responseTokens: { search: 500 } })
    await ada.expectOk('DELETE', `/upstreams/${id}`)
    const entries = await readEntries(ada, `/organizations/${organizationId}/audit`, `&targetId=${id}`)
    const server = { id: serverId, name: 'Attached' }
    expect(entries.map(({ action, change }) => [action, change])).toEqual([
      ['upstream.removed', { server }],
      ['upstream.changed', { server, fields: ['responseTokens'] }],
      [
        'upstream.changed',
        {
          server,
          fields: ['headers', 'url'],
          from: { transport: 'http', origin: 'https://mcp.example.com' },
          to: { transport: 'http', origin: 'https://elsewhere.example.com' },
        },
      ],
      ['upstream.created', { server, transport: 'http', origin: 'https://mcp.example.com' }],
    ])
    expect(JSON.stringify(entries)).not.toContain(SECRET)
  })

  it('announce themselves and their server when created, changed and removed', async () => {
    const serverId = await makeServer()
    const heard: string[] = []
    const { bus } = patchbay.services
    const stops = [
      bus.subscribe('upstream_changed', event => {
        if (event.serverId === serverId) heard.push(`upstream ${event.upstreamId}`)
      }),
      bus.subscribe('server_changed', event => {
        if (event.serverId === serverId) heard.push('server')
      }),
    ]
    const { id } = await ada.create(pathOf(serverId), { name: 'told', ...REMOTE })
    await ada.expectOk('PATCH', `/upstreams/${id}`, { description: 'changed' })
    await ada.expectOk('DELETE', `/upstreams/${id}`)
    for (const stop of stops) stop()
    expect(heard.sort()).toEqual(['server', 'server', 'server', ...Array.from({ length: 3 }, () => `upstream ${id}`)])
  })

  it('are deleted with their server', async () => {
    const serverId = await makeServer()
    const { id } = await ada.create(pathOf(serverId), { name: 'gone', ...REMOTE })
    await ada.expectOk('DELETE', `/servers/${serverId}`)
    expect((await ada.send('GET', `/upstreams/${id}`)).status).toBe(404)
    await expect.poll(() => patchbay.services.db.upstream.count({ where: { id } })).toBe(0)
  })
})
