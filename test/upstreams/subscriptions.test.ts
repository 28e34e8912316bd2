import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { INITIALIZE, postTo } from '../mcp/messages.ts'
import { postStateless } from '../mcp/wire.ts'
import { during } from '../support/world.ts'
import { runAttached } from './attached.ts'
import { type AnyClient, connectClient, jsonOf, PAIRS, SOME_PAIRS } from './clients.ts'
import { commandOf, everythingCommand } from './support.ts'

const world = runAttached()
const { patchbay, connect, makeServer } = world
const LATE = { late: commandOf('listens-late') }
const OLD = { talks: commandOf('talks-old') }
/** One server for each SDK generation, for tests that are not affected by other clients' subscriptions. */
const servers = during(async () => ({
  'talks-old': (await makeServer({ ...OLD, plain: commandOf('sdk-old') })).serverId,
  'talks-new': (await makeServer({ talks: commandOf('talks-new'), plain: commandOf('sdk-old') })).serverId,
}))
const subscribedAt = async (client: AnyClient): Promise<string[]> =>
  jsonOf<{ subscribed: string[] }>(await client.callTool('talks_told')).subscribed
const streamsAt = async (client: AnyClient) =>
  jsonOf<{ opened: number; open: number }>(await client.callTool('late_told'))

describe.each(PAIRS)('when a resource of an upstream ($line) changes, a client ($kind)', ({ kind, line }) => {
  it('is told if it has subscribed to that resource, and not otherwise', async () => {
    const [one, both, none] = await Promise.all(Array.from({ length: 3 }, () => connect(kind, servers[line])))
    if (one === undefined || both === undefined || none === undefined) throw new Error('there are no clients')
    await one.subscribe('talks://one')
    await both.subscribe('talks://one')
    const stop = await both.subscribe('talks://two')
    await none.callTool('talks_touch')
    await vi.waitFor(() => expect(both.updated.toSorted()).toEqual(['talks://one', 'talks://two']))
    await vi.waitFor(() => expect(one.updated).toEqual(['talks://one']))
    await stop()
    // Once an update from the second call arrives, all updates from the first call have arrived.
    for (let times = 0; times < 2; times++) {
      const before = both.updated.length
      await none.callTool('talks_touch')
      await vi.waitFor(() => expect(both.updated.slice(before)).toContain('talks://one'))
    }
    expect(both.updated.filter(uri => uri === 'talks://two')).toHaveLength(1)
    expect(none.updated).toEqual([])
  })
})

describe.each(SOME_PAIRS)('the completion of an upstream ($line), for a client ($kind)', ({ kind, line }) => {
  it('completes arguments of prompts and of resource templates', async () => {
    const client = await connect(kind, servers[line])
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
    await expect(complete({ type: 'ref/prompt', name: 'greet' })).rejects.toThrow('does not name a prompt')
  })
})

describe.each([
  { kind: 'sdk 1', line: 'talks-new' },
  { kind: 'sdk 2 stateless', line: 'talks-old' },
] as const)('an upstream ($line) that dies and is subscribed to ($kind)', ({ kind, line }) => {
  it('is subscribed to again, and the client is told that it may have missed an update', async () => {
    const client = await connect(kind, servers[line])
    await client.subscribe('talks://one')
    await client.callTool('talks_die').catch(() => {})
    await vi.waitFor(() => expect(client.updated).toEqual(['talks://one']), 10_000)
    await client.callTool('talks_touch')
    await vi.waitFor(() => expect(client.updated).toEqual(['talks://one', 'talks://one']))
  })
})

describe('subscriptions to resources', () => {
  it('deliver the updates of the everything server', async () => {
    const { serverId } = await makeServer({ every: everythingCommand() })
    const client = await connect('sdk 1', serverId)
    const uri = 'demo://resource/dynamic/text/1'
    await client.subscribe(uri)
    await client.callTool('every_toggle-subscriber-updates')
    await vi.waitFor(() => expect(client.updated).toContain(uri))
    await client.callTool('every_toggle-subscriber-updates')
  })

  it('end at the upstream with the last client that has them', async () => {
    const { serverId } = await makeServer(OLD)
    const [one, other] = [await connect('sdk 1', serverId), await connect('sdk 2', serverId)]
    await one.subscribe('talks://one')
    await other.subscribe('talks://one')
    expect(await subscribedAt(one)).toEqual(['talks://one'])
    await other.end()
    expect(await subscribedAt(one)).toEqual(['talks://one'])
    const stateless = await connect('sdk 2 stateless', serverId)
    const stop = await stateless.subscribe('talks://two')
    expect(await subscribedAt(one)).toEqual(['talks://one', 'talks://two'])
    await stop()
    await vi.waitFor(async () => expect(await subscribedAt(one)).toEqual(['talks://one']))
  })

  it('are renewed when the configuration of the upstream changes', async () => {
    const { serverId, ids } = await makeServer(OLD)
    const client = await connect('sdk 2', serverId)
    await client.subscribe('talks://one')
    await world.operator.expectOk('PATCH', `/upstreams/${ids.talks}`, { env: { ANOTHER: '1' } })
    await vi.waitFor(() => expect(client.updated).toEqual(['talks://one']), 10_000)
    await client.callTool('talks_touch')
    await vi.waitFor(() => expect(client.updated).toHaveLength(2))
  })

  it('are refused if the upstream refuses them or no upstream has the resource', async () => {
    const client = await connect('sdk 1', servers['talks-old'])
    await expect(client.subscribe('talks://any/never')).rejects.toThrow('never')
    const stateless = await connect('sdk 2 stateless', servers['talks-old'])
    await stateless.subscribe('talks://any/never')
    const plain = await makeServer({ plain: commandOf('sdk-old') })
    const other = await connect('sdk 1', plain.serverId)
    expect(other.capabilities()).not.toHaveProperty('completions')
    expect(other.capabilities()).not.toHaveProperty('logging')
    await expect(other.subscribe('talks://one')).rejects.toThrow('Resource not found: talks://one')
  })

  it('share one stream if made at once at an upstream that opens streams out of order', async () => {
    const { serverId } = await makeServer(LATE)
    const [one, two] = [await connect('sdk 1', serverId), await connect('sdk 2', serverId)]
    await Promise.all([one.subscribe('late://one'), two.subscribe('late://two')])
    await one.callTool('late_touch')
    await vi.waitFor(() => expect([one.updated, two.updated]).toEqual([['late://one'], ['late://two']]))
    const stateless = await connect('sdk 2 stateless', serverId)
    expect(await streamsAt(stateless)).toEqual({ opened: 2, open: 1 })
    await Promise.all([one.end(), two.end()])
    await vi.waitFor(async () => expect((await streamsAt(stateless)).open).toBe(0))
  })

  it('are refused if an upstream of the newer line acknowledges the stream without the resource', async () => {
    const { serverId } = await makeServer(LATE)
    const client = await connect('sdk 1', serverId)
    await expect(client.subscribe('late://none')).rejects.toThrow('does not send updates for this resource')
    await client.subscribe('late://one')
    await client.callTool('late_touch')
    await vi.waitFor(() => expect(client.updated).toEqual(['late://one']))
  })

  it('leave no stream open if the session ends before a slow upstream has opened it', async () => {
    const { serverId } = await makeServer(LATE)
    const client = await connect('sdk 2 stateless', serverId)
    const session = await connect('sdk 1', serverId)
    void session.request('resources/subscribe', { uri: 'late://one' }).catch(() => {})
    await vi.waitFor(async () => expect((await streamsAt(client)).opened).toBe(1))
    await session.end()
    await vi.waitFor(async () => expect((await streamsAt(client)).open).toBe(0))
  })

  it('are limited per session, also if requested at once', async () => {
    const { serverId } = await makeServer(OLD)
    const client = await connect('sdk 1', serverId)
    const uris = Array.from({ length: 520 }, (_, index) => `talks://any/${index}`)
    const outcomes = await Promise.allSettled(uris.map(uri => client.request('resources/subscribe', { uri })))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(500)
    await vi.waitFor(async () => expect(await subscribedAt(client)).toHaveLength(500))
  })

  const sendStateless = (serverId: string, method: string, params: JsonObject) =>
    postStateless(`${patchbay.origin}/s/${serverId}`, undefined, method, params)

  it('of a stateless client end with the server, also while they are being opened', async () => {
    const { serverId } = await makeServer(LATE)
    const client = await connect('sdk 2 stateless', serverId)
    const listening = sendStateless(serverId, 'subscriptions/listen', {
      notifications: { toolsListChanged: true, resourceSubscriptions: ['late://one'] },
    })
    await vi.waitFor(async () => expect((await streamsAt(client)).opened).toBe(1))
    await world.operator.expectOk('DELETE', `/servers/${serverId}`)
    const text = await (await listening).text()
    expect(text).toContain('notifications/subscriptions/acknowledged')
  })

  it('by resources/subscribe do not exist in the stateless era', async () => {
    const response = await sendStateless(servers['talks-old'], 'resources/subscribe', { uri: 'talks://one' })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: -32601 } })
  })
})

describe('subscriptions of a session without an open stream', () => {
  // Sessions are checked every second.
  const brisk = runAttached({ env: { PATCHBAY_MAX_SESSION_IDLE_MS: '24000' } })

  it('are suspended at the upstream, and resumed and told when the client listens again', async () => {
    const { url } = await brisk.makeServer(OLD)
    const other = await connectClient('sdk 2', url)
    const begun = await postTo(url, undefined, INITIALIZE())
    await begun.text()
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
    const subscribe = { jsonrpc: '2.0', id: 2, method: 'resources/subscribe', params: { uri: 'talks://one' } }
    await (await postTo(url, undefined, subscribe, session)).text()
    await vi.waitFor(async () => expect(await subscribedAt(other)).toEqual([]), 15_000)

    const end = new AbortController()
    onTestFinished(() => end.abort())
    const stream = await fetch(url, { headers: { accept: 'text/event-stream', ...session }, signal: end.signal })
    let told = ''
    const reading = (async () => {
      for await (const part of stream.body ?? []) told += Buffer.from(part).toString()
    })()
    reading.catch(() => {})
    await vi.waitFor(() => expect(told).toContain('"notifications/resources/updated","params":{"uri":"talks://one"}'))
    expect(await subscribedAt(other)).toEqual(['talks://one'])
    const before = told.length
    await other.callTool('talks_touch')
    await vi.waitFor(() => expect(told.slice(before)).toContain('talks://one'))
  })
})
