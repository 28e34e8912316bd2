import { describe, expect, it, vi } from 'vitest'
import { during } from '../support/world.ts'
import { runAttached } from './attached.ts'
import { type AnyClient, jsonOf, PAIRS } from './clients.ts'
import { commandOf, everythingCommand, startEverything } from './support.ts'

const { connect, makeServer } = runAttached({ env: { PATCHBAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.1' } })
const makeTalks = async (line: 'talks-old' | 'talks-new'): Promise<string> =>
  (await makeServer({ talks: commandOf(line) })).serverId
const servers = during(async () => ({
  'talks-old': await makeTalks('talks-old'),
  'talks-new': await makeTalks('talks-new'),
}))
const toldOf = async (client: AnyClient): Promise<string[]> =>
  jsonOf<{ told: string[] }>(await client.callTool('talks_told')).told

describe.each(PAIRS)('during a call of an upstream ($line), a client ($kind)', ({ kind, line }) => {
  it('receives progress under the token of its call', async () => {
    const client = await connect(kind, servers[line])
    const [first, second] = [[], []] as [unknown[], unknown[]]
    await Promise.all([
      client.callTool('talks_count', {}, { onprogress: step => first.push(step) }),
      client.callTool('talks_count', {}, { onprogress: step => second.push(step) }),
      client.callTool('talks_count'),
    ])
    const steps = [1, 2, 3].map(progress => ({ progress, total: 3, message: `step ${progress}` }))
    expect(first).toEqual(steps)
    expect(second).toEqual(steps)
  })

  it('has its _meta passed on, except what is between client and server', async () => {
    const client = await connect(kind, servers[line])
    const own = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'example.com/a': [1] }
    const answer = await client.request('tools/call', {
      name: 'talks_meta',
      arguments: {},
      _meta: { ...own, 'patchbay/x': 1, group: 'talks' },
    })
    const told = jsonOf<Record<string, unknown>>(answer)
    expect(told).toMatchObject(own)
    expect(Object.keys(told).filter(key => key === 'group' || key.startsWith('patchbay/'))).toEqual([])
  })

  it('receives log messages from its minimum level on', async () => {
    const client = await connect(kind, servers[line])
    await client.setLevel('warning')
    await client.callTool('talks_say', { a: 1 })
    await vi.waitFor(() =>
      expect(client.logs).toEqual([
        { level: 'warning', logger: 'talks', data: { a: 1 } },
        { level: 'error', logger: 'talks', data: { a: 1 } },
      ]),
    )
  })

  it('can cancel it, which the upstream is told', async () => {
    const client = await connect(kind, servers[line])
    const before = await toldOf(client)
    const stop = new AbortController()
    const call = client.callTool('talks_wait', {}, { signal: stop.signal })
    await vi.waitFor(async () => expect(await toldOf(client)).toEqual([...before, 'waiting']))
    stop.abort()
    await expect(call).rejects.toThrow()
    await vi.waitFor(async () => expect(await toldOf(client)).toEqual([...before, 'waiting', 'cancelled']))
  })
})

describe('an upstream that sends messages during a call', () => {
  it('is sent the minimum level of the client', async () => {
    const client = await connect('sdk 2', await makeTalks('talks-old'))
    await client.setLevel('warning')
    await client.callTool('talks_say')
    expect(await toldOf(client)).toEqual(['level warning'])
  })

  it('may take longer than the timeout while it reports progress', async () => {
    const { serverId } = await makeServer({ every: { ...everythingCommand(), timeoutMs: 1_000 } })
    const client = await connect('sdk 2', serverId)
    const steps: unknown[] = []
    const args = { duration: 1.5, steps: 5 }
    const done = await client.callTool('every_trigger-long-running-operation', args, { onprogress: s => steps.push(s) })
    expect(done).toMatchObject({ content: [{ text: expect.stringContaining('completed') }] })
    expect(steps).toEqual([1, 2, 3, 4, 5].map(progress => ({ progress, total: 5 })))
    expect(await client.callTool('every_trigger-long-running-operation', args)).toMatchObject({ isError: true })
  })

  it('reaches the client over HTTP too', async () => {
    const port = await startEverything('streamableHttp')
    const { serverId } = await makeServer({ far: { transport: 'http', url: `http://127.0.0.1:${port}/mcp` } })
    const client = await connect('sdk 1', serverId)
    await client.setLevel('debug')
    const steps: unknown[] = []
    const args = { duration: 0.3, steps: 3 }
    await client.callTool('far_trigger-long-running-operation', args, { onprogress: step => steps.push(step) })
    expect(steps).toEqual([1, 2, 3].map(progress => ({ progress, total: 3 })))
    await client.callTool('far_toggle-simulated-logging')
    await vi.waitFor(() => expect(client.logs.length).toBeGreaterThan(0))
  })

  it('reaches only the client whose call the message is about', async () => {
    const serverId = servers['talks-old']
    const [one, other] = [await connect('sdk 2', serverId), await connect('sdk 1', serverId)]
    await one.setLevel('debug')
    await other.setLevel('debug')
    const say = (client: AnyClient, to: string) => client.callTool('talks_say', { for: to })
    // The last call's messages arrive after all others.
    for (const [client, to] of [
      [one, 'one'],
      [other, 'other'],
      [one, 'one'],
      [other, 'other'],
    ] as const) {
      await say(client, to)
      await vi.waitFor(() => expect(client.logs.length % 3).toBe(0))
    }
    await vi.waitFor(() => expect([one.logs.length, other.logs.length]).toEqual([6, 6]))
    expect(new Set(one.logs.map(({ data }) => JSON.stringify(data)))).toEqual(new Set(['{"for":"one"}']))
    expect(new Set(other.logs.map(({ data }) => JSON.stringify(data)))).toEqual(new Set(['{"for":"other"}']))
  })
})
