import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { INITIALIZE, postTo } from '../mcp/messages.ts'
import { nextMessage, openStream, statelessRequest } from '../mcp/wire.ts'
import { makeServer } from '../support/api-client.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'
import { runScriptedUpstreams } from '../upstreams/scripted-upstream.ts'
import { askedAt, challengeOf } from './support/resource.ts'
import { insertToken } from './support/tokens.ts'

type Ask = { method: string; params?: JsonObject; needs: 'nothing' | 'read' | 'either' | 'call' }

const call = (name: string, args: JsonObject = {}): JsonObject => ({ name, arguments: args })

/**
 * The requests under test and the scope each one needs. One scope covers lists and read-only tools; the other covers
 * every tool.
 */
const ASKS: readonly Ask[] = [
  { method: 'tools/list', needs: 'read' },
  { method: 'resources/list', needs: 'read' },
  { method: 'resources/templates/list', needs: 'read' },
  { method: 'prompts/list', needs: 'read' },
  { method: 'resources/read', params: { uri: 'x:y' }, needs: 'read' },
  { method: 'prompts/get', params: { name: 'x' }, needs: 'read' },
  { method: 'tools/call', params: call('marked'), needs: 'either' },
  // A GET tool is not read-only by itself: the builder must mark it.
  { method: 'tools/call', params: call('get'), needs: 'call' },
  { method: 'tools/call', params: call('denied'), needs: 'call' },
  { method: 'tools/call', params: call('post'), needs: 'call' },
  { method: 'tools/call', params: call('unknown'), needs: 'call' },
  // This tool calls the tool named in its arguments.
  { method: 'tools/call', params: call('proxy_explore', { tool: 'marked' }), needs: 'either' },
  { method: 'tools/call', params: call('proxy_explore', { tool: 'post' }), needs: 'call' },
  { method: 'tools/call', params: call('proxy_filter', { tool: 'unknown' }), needs: 'call' },
  { method: 'tools/call', params: call('proxy_search', { cache_id: 'x'.repeat(22), pattern: 'x' }), needs: 'either' },
  { method: 'no/such', needs: 'nothing' },
]
const SESSION_ASKS: readonly Ask[] = [
  ...ASKS,
  { method: 'ping', needs: 'nothing' },
  { method: 'logging/setLevel', params: { level: 'info' }, needs: 'nothing' },
]
const STATELESS_ASKS: readonly Ask[] = [...ASKS, { method: 'server/discover', needs: 'nothing' }]

const SCOPES = ['mcp:read mcp:call', 'mcp:call mcp:read other', 'mcp:read', 'mcp:call', '', 'openid'] as const
type Scopes = (typeof SCOPES)[number]

const isEnough = (scope: Scopes, { needs }: Ask): boolean => {
  const held = scope.split(' ')
  const [mayRead, mayCall] = [held.includes('mcp:read'), held.includes('mcp:call')]
  return { nothing: true, read: mayRead, either: mayRead || mayCall, call: mayCall }[needs]
}
/** Returns all required scopes, including those that the token already has. */
const wantedScope = (scope: Scopes, { needs }: Ask): string => {
  const held = scope.split(' ')
  const more = { nothing: '', read: 'mcp:read', either: 'mcp:read', call: 'mcp:call' }[needs]
  return ['mcp:read', 'mcp:call'].filter(one => one === more || held.includes(one)).join(' ')
}

const READS = { name: 'work', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }
const upstreams = runScriptedUpstreams({ says: { tools: () => [READS] } })

let url: string
let publicUrl: string
let serverId: string
const tokens = new Map<Scopes, string>()

const patchbay = runPatchbay()
const api = runFakeApi()
const ada = runUser(patchbay)
beforeAll(async () => {
  const tools = [
    { name: 'marked', method: 'POST', url: `${api.origin}/`, annotations: { readOnlyHint: true } },
    { name: 'get', method: 'GET', url: `${api.origin}/` },
    { name: 'denied', method: 'GET', url: `${api.origin}/`, annotations: { readOnlyHint: false } },
    { name: 'post', method: 'POST', url: `${api.origin}/` },
  ]
  ;({ serverId, url } = await makeServer(ada, tools, { server: { access: 'private', maxResponseTokens: 500 } }))
  const open = await makeServer(ada, tools, { server: { access: 'public' } })
  publicUrl = open.url
  for (const scope of SCOPES) {
    const wish = { origin: patchbay.origin, userId: ada.userId, serverId, scope }
    tokens.set(scope, (await insertToken(patchbay.services, wish)).token)
  }
})

const request = ({ method, params }: Ask, id = 7) => ({ jsonrpc: '2.0', id, method, ...(params && { params }) })

const beginSession = async (token: string | undefined, version: string): Promise<Record<string, string>> => {
  const response = await postTo(url, token, INITIALIZE(version))
  expect(response.status).toBe(200)
  return { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': version }
}

const expectRefusal = async (response: Response, scope: string, id: number | null): Promise<void> => {
  expect(response.status).toBe(403)
  expect(challengeOf(response)).toEqual({ ...askedAt(url), error: 'insufficient_scope', scope })
  expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id, error: { code: -32_000 } })
}

describe.each(SCOPES)('a token of the scope "%s"', scope => {
  const token = () => tokens.get(scope)

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'is limited accordingly over Streamable HTTP of %s',
    async version => {
      const session = await beginSession(token(), version)
      for (const ask of SESSION_ASKS) {
        const response = await postTo(url, token(), request(ask), session)
        if (isEnough(scope, ask)) expect([ask, response.status]).toEqual([ask, 200])
        else await expectRefusal(response, wantedScope(scope, ask), 7)
      }
      const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
      expect((await postTo(url, token(), initialized, session)).status).toBe(202)
      expect((await fetch(url, { method: 'DELETE', headers: bearer(token(), session) })).status).toBe(200)
    },
  )

  it('is limited accordingly over Streamable HTTP of 2026-07-28', async () => {
    for (const ask of STATELESS_ASKS) {
      const { body, headers } = statelessRequest(ask.method, ask.params, 7)
      const response = await postTo(url, token(), body, headers)
      if (isEnough(scope, ask)) expect([ask, response.status]).toEqual([ask, ask.method === 'no/such' ? 404 : 200])
      else await expectRefusal(response, wantedScope(scope, ask), 7)
    }
  })

  it('is limited accordingly over HTTP+SSE of 2024-11-05', async () => {
    const authorization = `Bearer ${token()}`
    const stream = await openStream(
      { port: patchbay.settings.port },
      { path: `/s/${serverId}/sse`, headers: { authorization } },
    )
    const address = `${patchbay.origin}${(await stream.next())?.data}`
    const { params } = INITIALIZE('2024-11-05')
    const first: Ask = { method: 'initialize', params, needs: 'nothing' }
    for (const [index, ask] of [first, ...SESSION_ASKS].entries()) {
      const response = await postTo(address, token(), request(ask, index))
      if (isEnough(scope, ask)) {
        expect([ask, response.status]).toEqual([ask, 202])
        expect(await nextMessage(stream)).toMatchObject({ id: index })
      } else await expectRefusal(response, wantedScope(scope, ask), index)
    }
    stream.close()
  })

  it('can open streams', async () => {
    const session = await beginSession(token(), '2025-11-25')
    const app = { port: patchbay.settings.port }
    const headers = bearer(token(), session)
    const stream = await openStream(app, { path: `/s/${serverId}`, headers })
    expect(stream.status).toBe(200)
    stream.close()
  })

  it('is not limited where no token is needed', async () => {
    const other = { origin: patchbay.origin, userId: ada.userId, serverId: publicUrl.split('/').at(-1) ?? '', scope }
    const { token: forPublic } = await insertToken(patchbay.services, other)
    for (const ask of ASKS.filter(({ method }) => method === 'tools/call')) {
      const { body, headers } = statelessRequest(ask.method, ask.params)
      expect((await postTo(publicUrl, forPublic, body, headers)).status).toBe(200)
    }
  })
})

const bearer = (token: string | undefined, session: Record<string, string>) => ({
  ...session,
  accept: 'application/json, text/event-stream',
  authorization: `Bearer ${token}`,
})

describe('a batch (2025-03-26)', () => {
  const marked = { method: 'tools/call', params: call('marked'), needs: 'either' } as const
  const acting = { method: 'tools/call', params: call('post'), needs: 'call' } as const
  const list = { method: 'tools/list', needs: 'read' } as const
  const send = async (scope: Scopes, asks: readonly Ask[]) => {
    const token = tokens.get(scope)
    const session = await beginSession(token, '2025-03-26')
    return postTo(
      url,
      token,
      asks.map((ask, index) => request(ask, index)),
      session,
    )
  }

  it('is rejected as a whole, without side effects, if one of its requests needs another scope', async () => {
    const before = api.seen.length
    await expectRefusal(await send('mcp:read', [marked, list, acting]), 'mcp:read mcp:call', null)
    await expectRefusal(await send('mcp:call', [marked, acting, list]), 'mcp:read mcp:call', null)
    await expectRefusal(await send('', [marked, acting]), 'mcp:read mcp:call', null)
    expect(api.seen.length).toBe(before)
  })

  it('gets responses if none does', async () => {
    const response = await send('mcp:read', [marked, list])
    expect([response.status, await response.json()]).toMatchObject([200, [{ id: 0 }, { id: 1 }]])
    expect((await send('mcp:call', [marked, acting])).status).toBe(200)
  })
})

it('a tool loses its read-only mark at once: a read token may then not call it', async () => {
  const {
    serverId: id,
    toolIds,
    url: address,
  } = await makeServer(
    ada,
    [{ name: 'tool', method: 'GET', url: `${api.origin}/`, annotations: { readOnlyHint: true } }],
    { server: { access: 'private' } },
  )
  const wish = { origin: patchbay.origin, userId: ada.userId, serverId: id, scope: 'mcp:read' }
  const { token } = await insertToken(patchbay.services, wish)
  const { body, headers } = statelessRequest('tools/call', { name: 'tool', arguments: {} })
  expect((await postTo(address, token, body, headers)).status).toBe(200)
  await ada.expectOk('PATCH', `/tools/${toolIds.tool}`, { annotations: { idempotentHint: true } })
  expect((await postTo(address, token, body, headers)).status).toBe(403)
})

it("the builder's mark counts for an upstream tool, not the tool's own", async () => {
  const { id } = await ada.create('/servers', { name: 'Attached', access: 'private' })
  const wish = { origin: patchbay.origin, userId: ada.userId, serverId: id, scope: 'mcp:read' }
  const attached = { name: 'up', transport: 'http', url: upstreams.urlOf('says') }
  const upstream = await ada.create(`/servers/${id}/upstreams`, attached)
  await ada.expectOk('POST', `/upstreams/${upstream.id}/refresh`)
  const { token } = await insertToken(patchbay.services, wish)
  const { body, headers } = statelessRequest('tools/call', { name: 'up_work', arguments: {} })
  const address = `${patchbay.origin}/s/${id}`
  const may = async () => (await postTo(address, token, body, headers)).status
  expect(await may()).toBe(403)
  await ada.expectOk('PATCH', `/upstreams/${upstream.id}`, { toolAnswers: { work: { readOnly: true } } })
  await expect.poll(may).toBe(200)
})

it('a personal access token with the scope mcp has both scopes', async () => {
  const session = await beginSession(ada.token, '2025-06-18')
  for (const ask of SESSION_ASKS) expect((await postTo(url, ada.token, request(ask), session)).status).toBe(200)
})

it('a page of an allowed origin can read which scope is missing', async () => {
  const { body, headers } = statelessRequest('tools/list')
  const response = await postTo(url, tokens.get('mcp:call'), body, { ...headers, origin: patchbay.origin })
  expect(response.status).toBe(403)
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  expect(response.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate')
})
