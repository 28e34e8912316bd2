import { setTimeout as wait } from 'node:timers/promises'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { runPatchbay } from '../servers/patchbay.ts'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { type AnyClient, CLIENT_KINDS, type ClientKind, connectClient, jsonOf } from './clients.ts'
import { commandOf, everythingCommand, startEverything } from './support.ts'

const PAIRS = CLIENT_KINDS.flatMap(kind => (['talks-old', 'talks-new'] as const).map(line => ({ kind, line })))

describe('messages of an upstream during a call', () => {
  const patchbay = runPatchbay(undefined, {
    PATCHBAY_ALLOW_STDIO: 'true',
    PATCHBAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.1',
  })
  let operator: ApiClient & { userId: string }
  beforeAll(async () => {
    operator = await signUp(patchbay.origin, 'operator@example.com')
  })

  const makeServer = async (upstreams: Readonly<Record<string, object>>): Promise<string> => {
    const { id: serverId } = await operator.create('/servers', { name: 'Streaming', access: 'public' })
    for (const [name, body] of Object.entries(upstreams)) {
      const { id } = await operator.create(`/servers/${serverId}/upstreams`, { name, ...body })
      await operator.expectOk('POST', `/upstreams/${id}/refresh`)
    }
    return serverId
  }
  const connect = (kind: ClientKind, serverId: string, options?: Parameters<typeof connectClient>[2]) =>
    connectClient(kind, `${patchbay.origin}/s/${serverId}`, options)
  const toldOf = async (client: AnyClient, prefix: string): Promise<{ told: string[]; subscribed: string[] }> =>
    jsonOf(await client.callTool(`${prefix}_told`))

  describe.each(PAIRS)('from an upstream of era $line to $kind', ({ kind, line }) => {
    it("include progress with the call's token", async () => {
      const serverId = await makeServer({ talks: commandOf(line) })
      const client = await connect(kind, serverId)
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

    it("respond to a request with the client's _meta, except for fields of the connection", async () => {
      const serverId = await makeServer({ talks: commandOf(line) })
      const client = await connect(kind, serverId)
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

    it('include log messages from the requested level on', async () => {
      const serverId = await makeServer({ talks: commandOf(line) })
      const client = await connect(kind, serverId)
      await client.setLevel('warning')
      await client.callTool('talks_say', { a: 1 })
      await vi.waitFor(() =>
        expect(client.logs).toEqual([
          { level: 'warning', logger: 'talks', data: { a: 1 } },
          { level: 'error', logger: 'talks', data: { a: 1 } },
        ]),
      )
      if (line === 'talks-old') expect((await toldOf(client, 'talks')).told).toEqual(['level warning'])
    })

    it('end when the client cancels, which the upstream is told', async () => {
      const serverId = await makeServer({ talks: commandOf(line) })
      const client = await connect(kind, serverId)
      const stop = new AbortController()
      const call = client.callTool('talks_wait', {}, { signal: stop.signal })
      await vi.waitFor(async () => expect((await toldOf(client, 'talks')).told).toEqual(['waiting']))
      stop.abort()
      await expect(call).rejects.toThrow()
      await vi.waitFor(async () => expect((await toldOf(client, 'talks')).told).toEqual(['waiting', 'cancelled']))
    })
  })

  it('keep a call open beyond the timeout of one operation', async () => {
    const serverId = await makeServer({ every: { ...everythingCommand(), timeoutMs: 2_000 } })
    const client = await connect('sdk 2', serverId)
    const steps: unknown[] = []
    const args = { duration: 3, steps: 5 }
    const done = await client.callTool('every_trigger-long-running-operation', args, { onprogress: s => steps.push(s) })
    expect(done).toMatchObject({ content: [{ text: expect.stringContaining('completed') }] })
    expect(steps).toEqual([1, 2, 3, 4, 5].map(progress => ({ progress, total: 5 })))
    expect(await client.callTool('every_trigger-long-running-operation', args)).toMatchObject({ isError: true })
  })

  it('also arrive over HTTP', async () => {
    const port = await startEverything('streamableHttp')
    const serverId = await makeServer({ far: { transport: 'http', url: `http://127.0.0.1:${port}/mcp` } })
    const client = await connect('sdk 1', serverId)
    await client.setLevel('debug')
    const steps: unknown[] = []
    const args = { duration: 0.3, steps: 3 }
    await client.callTool('far_trigger-long-running-operation', args, { onprogress: step => steps.push(step) })
    expect(steps).toEqual([1, 2, 3].map(progress => ({ progress, total: 3 })))
    await client.callTool('far_toggle-simulated-logging')
    await vi.waitFor(() => expect(client.logs.length).toBeGreaterThan(0))
  })

  it('reach only the client that made the call', async () => {
    const serverId = await makeServer({ talks: commandOf('talks-old') })
    const [one, other] = [await connect('sdk 2', serverId), await connect('sdk 1', serverId)]
    await one.setLevel('debug')
    await other.setLevel('debug')
    await one.callTool('talks_say', { for: 'one' })
    await other.callTool('talks_say', { for: 'other' })
    await vi.waitFor(() => expect(other.logs).toHaveLength(3))
    await wait(50)
    expect(one.logs.map(({ data }) => data)).toEqual([{ for: 'one' }, { for: 'one' }, { for: 'one' }])
    expect(other.logs.map(({ data }) => data)).toEqual([{ for: 'other' }, { for: 'other' }, { for: 'other' }])
  })
})
