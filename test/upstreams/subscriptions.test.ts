import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { runPatchbay } from '../servers/patchbay.ts'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { type ClientKind, connectClient, jsonOf, PAIRS, SOME_PAIRS } from './clients.ts'
import { commandOf, everythingCommand } from './support.ts'

const patchbay = runPatchbay(undefined, { PATCHBAY_ALLOW_STDIO: 'true' })
let operator: ApiClient & { userId: string }
beforeAll(async () => {
  operator = await signUp(patchbay.origin, 'operator@example.com')
})

const attach = async (serverId: string, name: string, body: object): Promise<string> => {
  const { id } = await operator.create(`/servers/${serverId}/upstreams`, { name, ...body })
  await operator.expectOk('POST', `/upstreams/${id}/refresh`)
  return id
}
const makeServer = async (): Promise<string> =>
  (await operator.create('/servers', { name: 'Streaming', maxResponseTokens: 0, access: 'public' })).id
const connect = (kind: ClientKind, serverId: string) => connectClient(kind, `${patchbay.origin}/s/${serverId}`)

describe.each(PAIRS)('an upstream of era $line, to client $kind', ({ kind, line }) => {
  it('notifies only subscribers of a resource when it is updated', async () => {
    const serverId = await makeServer()
    await attach(serverId, 'talks', commandOf(line))
    const [one, both, none] = [
      await connect(kind, serverId),
      await connect(kind, serverId),
      await connect(kind, serverId),
    ]
    await one.subscribe('talks://one')
    await both.subscribe('talks://one')
    const stop = await both.subscribe('talks://two')
    await none.callTool('talks_touch')
    await vi.waitFor(() => expect(both.updated.toSorted()).toEqual(['talks://one', 'talks://two']))
    await vi.waitFor(() => expect(one.updated).toEqual(['talks://one']))
    await stop()
    await none.callTool('talks_touch')
    await vi.waitFor(() => expect(both.updated.filter(uri => uri === 'talks://one').length).toBeGreaterThan(1))
    await wait(50)
    expect(both.updated.filter(uri => uri === 'talks://two')).toHaveLength(1)
    expect(none.updated).toEqual([])
  })
})

describe.each(SOME_PAIRS)('an upstream of era $line, to client $kind', ({ kind, line }) => {
  it('completes arguments of prompts and resource templates', async () => {
    const serverId = await makeServer()
    await attach(serverId, 'talks', commandOf(line))
    await attach(serverId, 'plain', commandOf('sdk-old'))
    const client = await connect(kind, serverId)
    expect(client.capabilities()).toMatchObject({ completions: {}, logging: {}, resources: { subscribe: true } })
    const complete = (ref: object, more: object = {}) =>
      client.request('completion/complete', { ref, argument: { name: 'whom', value: 'W' }, ...more })
    const context = { arguments: { other: 'given' } }
    expect(await complete({ type: 'ref/prompt', name: 'talks_greet' }, { context })).toMatchObject({
      completion: { values: ['ref/prompt:whom=W', 'given'], total: 7, hasMore: true },
    })
    expect(await complete({ type: 'ref/resource', uri: 'talks://any/{id}' })).toMatchObject({
      completion: { values: ['ref/resource:whom=W'] },
    })
    await expect(complete({ type: 'ref/prompt', name: 'greet' })).rejects.toThrow('names no prompt')
  })

  it('is subscribed to again after it died, and announces that updates may have been missed', async () => {
    const serverId = await makeServer()
    await attach(serverId, 'talks', commandOf(line))
    const client = await connect(kind, serverId)
    await client.subscribe('talks://one')
    await client.callTool('talks_die').catch(() => {})
    await vi.waitFor(() => expect(client.updated).toEqual(['talks://one']), 10_000)
    await client.callTool('talks_touch')
    await vi.waitFor(() => expect(client.updated).toEqual(['talks://one', 'talks://one']))
  })
})

describe('subscriptions to resources', () => {
  it('to a published server receive its updates', async () => {
    const serverId = await makeServer()
    await attach(serverId, 'every', everythingCommand())
    const client = await connect('sdk 1', serverId)
    const uri = 'demo://resource/dynamic/text/1'
    await client.subscribe(uri)
    await client.callTool('every_toggle-subscriber-updates')
    await vi.waitFor(() => expect(client.updated).toContain(uri))
    await client.callTool('every_toggle-subscriber-updates')
  })

  it('end with their last client', async () => {
    const serverId = await makeServer()
    await attach(serverId, 'talks', commandOf('talks-old'))
    const [one, other] = [await connect('sdk 1', serverId), await connect('sdk 2', serverId)]
    await one.subscribe('talks://one')
    await other.subscribe('talks://one')
    const subscribed = async () => jsonOf<{ subscribed: string[] }>(await one.callTool('talks_told')).subscribed
    expect(await subscribed()).toEqual(['talks://one'])
    await other.end()
    expect(await subscribed()).toEqual(['talks://one'])
    const stateless = await connect('sdk 2 stateless', serverId)
    const stop = await stateless.subscribe('talks://two')
    expect(await subscribed()).toEqual(['talks://one', 'talks://two'])
    await stop()
    await vi.waitFor(async () => expect(await subscribed()).toEqual(['talks://one']))
  })

  it("continue after the upstream's configuration changed", async () => {
    const serverId = await makeServer()
    const id = await attach(serverId, 'talks', commandOf('talks-old'))
    const client = await connect('sdk 2', serverId)
    await client.subscribe('talks://one')
    await operator.expectOk('PATCH', `/upstreams/${id}`, { env: { ANOTHER: '1' } })
    await vi.waitFor(() => expect(client.updated).toEqual(['talks://one']), 10_000)
    await client.callTool('talks_touch')
    await vi.waitFor(() => expect(client.updated).toHaveLength(2))
  })

  it('are refused if the upstream refuses or does not support them, or nobody has the resource', async () => {
    const serverId = await makeServer()
    await attach(serverId, 'talks', commandOf('talks-old'))
    const client = await connect('sdk 1', serverId)
    await expect(client.subscribe('talks://any/never')).rejects.toThrow('never')
    const stateless = await connect('sdk 2 stateless', serverId)
    await stateless.subscribe('talks://any/never')
    const plain = await makeServer()
    await attach(plain, 'plain', commandOf('sdk-old'))
    const other = await connect('sdk 1', plain)
    expect(other.capabilities()).not.toHaveProperty('completions')
    expect(other.capabilities()).not.toHaveProperty('logging')
    await expect(other.subscribe('talks://one')).rejects.toThrow('Resource not found: talks://one')
  })

  it('that start at the same time are all notified over one stream, even if the upstream opens streams out of order', async () => {
    const serverId = await makeServer()
    await attach(serverId, 'late', commandOf('listens-late'))
    const [one, two] = [await connect('sdk 1', serverId), await connect('sdk 2', serverId)]
    await Promise.all([one.subscribe('late://one'), two.subscribe('late://two')])
    await one.callTool('late_touch')
    await vi.waitFor(() => expect([one.updated, two.updated]).toEqual([['late://one'], ['late://two']]))
    const stateless = await connect('sdk 2 stateless', serverId)
    const told = async () => jsonOf<{ opened: number; open: number }>(await stateless.callTool('late_told'))
    expect(await told()).toEqual({ opened: 2, open: 1 })
    await Promise.all([one.end(), two.end()])
    await vi.waitFor(async () => expect((await told()).open).toBe(0))
  })

  it('that a stateless upstream rejects are refused', async () => {
    const serverId = await makeServer()
    await attach(serverId, 'late', commandOf('listens-late'))
    const client = await connect('sdk 1', serverId)
    await expect(client.subscribe('late://none')).rejects.toThrow('does not send updates for this resource')
    await client.subscribe('late://one')
    await client.callTool('late_touch')
    await vi.waitFor(() => expect(client.updated).toEqual(['late://one']))
  })

  it('that have just ended leave nothing open, even if the upstream is slow', async () => {
    const serverId = await makeServer()
    await attach(serverId, 'late', commandOf('listens-late'))
    const client = await connect('sdk 2 stateless', serverId)
    const session = await connect('sdk 1', serverId)
    const told = async () => jsonOf<{ opened: number; open: number }>(await client.callTool('late_told'))
    void session.request('resources/subscribe', { uri: 'late://one' }).catch(() => {})
    await vi.waitFor(async () => expect((await told()).opened).toBe(1))
    await session.end()
    await vi.waitFor(async () => expect((await told()).open).toBe(0))
  })

  it('are limited per session, even if all start at once', async () => {
    const serverId = await makeServer()
    await attach(serverId, 'talks', commandOf('talks-old'))
    const client = await connect('sdk 1', serverId)
    const uris = Array.from({ length: 520 }, (_, index) => `talks://any/${index}`)
    const outcomes = await Promise.allSettled(uris.map(uri => client.request('resources/subscribe', { uri })))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(500)
    const told = async () => jsonOf<{ subscribed: string[] }>(await client.callTool('talks_told'))
    await vi.waitFor(async () => expect((await told()).subscribed).toHaveLength(500))
  })

  const sendStateless = (serverId: string, method: string, params: object) =>
    fetch(`${patchbay.origin}/s/${serverId}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } }),
    })
  const META = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }

  it('of the stateless era end with the server, even while they are being opened', async () => {
    const serverId = await makeServer()
    await attach(serverId, 'late', commandOf('listens-late'))
    const client = await connect('sdk 2 stateless', serverId)
    const listening = sendStateless(serverId, 'subscriptions/listen', {
      notifications: { toolsListChanged: true, resourceSubscriptions: ['late://one'] },
    })
    await vi.waitFor(async () => {
      expect(jsonOf<{ opened: number }>(await client.callTool('late_told')).opened).toBe(1)
    })
    await operator.expectOk('DELETE', `/servers/${serverId}`)
    const text = await (await listening).text()
    expect(text).toContain('notifications/subscriptions/acknowledged')
  })

  it('by resources/subscribe do not exist in the stateless era', async () => {
    const serverId = await makeServer()
    await attach(serverId, 'talks', commandOf('talks-old'))
    const response = await sendStateless(serverId, 'resources/subscribe', { uri: 'talks://one' })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: -32601 } })
  })
})

describe('subscriptions of a session without an open stream', () => {
  // Checked every second.
  const brisk = runPatchbay(undefined, { PATCHBAY_ALLOW_STDIO: 'true', PATCHBAY_MAX_SESSION_IDLE_MS: '24000' })

  it('are suspended at the upstream, and resumed once a stream is opened', async () => {
    const owner = await signUp(brisk.origin, 'operator@example.com')
    const { id: serverId } = await owner.create('/servers', { name: 'Resting', access: 'public', maxResponseTokens: 0 })
    const talks = { name: 'talks', ...commandOf('talks-old') }
    const { id } = await owner.create(`/servers/${serverId}/upstreams`, talks)
    await owner.expectOk('POST', `/upstreams/${id}/refresh`)
    const url = `${brisk.origin}/s/${serverId}`
    const other = await connectClient('sdk 2', url)
    const subscribed = async () => jsonOf<{ subscribed: string[] }>(await other.callTool('talks_told')).subscribed

    const post = (body: object, headers: Record<string, string> = {}) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      })
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'gone', version: '1' } }
    const begun = await post({ id: 1, method: 'initialize', params })
    await begun.text()
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
    await (await post({ id: 2, method: 'resources/subscribe', params: { uri: 'talks://one' } }, session)).text()
    await vi.waitFor(async () => expect(await subscribed()).toEqual([]), 15_000)

    const end = new AbortController()
    onTestFinished(() => end.abort())
    const stream = await fetch(url, { headers: { accept: 'text/event-stream', ...session }, signal: end.signal })
    let told = ''
    const reading = (async () => {
      for await (const part of stream.body ?? []) told += Buffer.from(part).toString()
    })()
    reading.catch(() => {})
    await vi.waitFor(() => expect(told).toContain('"notifications/resources/updated","params":{"uri":"talks://one"}'))
    expect(await subscribed()).toEqual(['talks://one'])
    const before = told.length
    await other.callTool('talks_touch')
    await vi.waitFor(() => expect(told.slice(before)).toContain('talks://one'))
  })
})
