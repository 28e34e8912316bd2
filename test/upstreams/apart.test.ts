import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { postStateless } from '../mcp/wire.ts'
import { during } from '../support/world.ts'
import { runAttached } from './attached.ts'
import { type AnyClient, type ClientExtras, jsonOf } from './clients.ts'
import { commandOf, gone, startEverything } from './support.ts'

const world = runAttached({ env: { PATCHBAY_ALLOW_PRIVATE_NETWORKS: '127.0.0.1' } })
const { connect, makeServer, patchbay } = world
const talks = during(() => makeServer({ talks: commandOf('talks-old') }))

const ANSWER = { action: 'accept' as const, content: { name: 'Ada' } }
type Asked = { message: string; signal: AbortSignal }

/** Returns the options of a client that answers elicitations. `asked` contains the received requests. */
const answering = (answer: (asked: Asked) => Promise<typeof ANSWER> = async () => ANSWER) => {
  const asked: Asked[] = []
  const take = (one: Asked) => {
    asked.push(one)
    return answer(one)
  }
  const extras: ClientExtras = {
    capabilities: { elicitation: {} },
    prepare1: client =>
      client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) =>
        take({ message: params.message, signal }),
      ),
    prepare2: client =>
      client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) =>
        take({ message: params.message, signal: mcpReq.signal }),
      ),
  }
  return { asked, extras }
}
const never = () => new Promise<typeof ANSWER>(() => {})
const pidOf = async (client: AnyClient): Promise<number> =>
  jsonOf<{ pid: number }>(await client.callTool('talks_told')).pid

describe('a question to a client', () => {
  it.each(['sdk 1 over sse', 'sdk 2 stateless'] as const)('has secrets masked (%s)', async kind => {
    const { serverId } = await makeServer()
    await world.operator.expectOk('PUT', `/servers/${serverId}/globals/key`, { value: 'sk-canary-77', secret: true })
    await world.refresh(
      await world.attach(serverId, { name: 'talks', ...commandOf('talks-old'), env: { SECRET: '{{key}}' } }),
    )
    const { asked, extras } = answering()
    const client = await connect(kind, serverId, extras)
    await client.callTool('talks_ask', { message: 'Is it sk-canary-77?' })
    expect(asked).toHaveLength(1)
    expect(asked[0]?.message).not.toContain('sk-canary-77')
  })

  it('is refused if 20 are open already', async () => {
    const { asked, extras } = answering(async () => {
      await vi.waitFor(() => expect(asked).toHaveLength(20))
      return ANSWER
    })
    const client = await connect('sdk 2', talks.serverId, extras)
    const outcomes = jsonOf<string[]>(await client.callTool('talks_pester'))
    expect(outcomes.filter(outcome => outcome === 'answered')).toHaveLength(20)
    expect(outcomes.filter(outcome => outcome.includes('already has 20 unanswered requests'))).toHaveLength(10)
    expect(asked).toHaveLength(20)
  })

  it('is cancelled when the client cancels its call, though the upstream still waits', async () => {
    const { asked, extras } = answering(never)
    const client = await connect('sdk 2', talks.serverId, extras)
    const stop = new AbortController()
    const call = client.callTool('talks_ask', {}, { signal: stop.signal })
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    stop.abort()
    await expect(call).rejects.toThrow()
    await vi.waitFor(() => expect(asked[0]?.signal.aborted).toBe(true))
  })

  it('is cancelled when the upstream is changed or removed, and the call ends with the reason', async () => {
    const { serverId, ids } = await makeServer({ talks: commandOf('talks-old') })
    const { asked, extras } = answering(never)
    const client = await connect('sdk 2', serverId, extras)
    const first = client.callTool('talks_ask')
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    await world.operator.expectOk('PATCH', `/upstreams/${ids.talks}`, { env: { ANOTHER: '1' } })
    expect(await first).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('talks') }] })
    await vi.waitFor(() => expect(asked[0]?.signal.aborted).toBe(true))
    await world.refresh(ids.talks ?? '')
    const pid = await vi.waitFor(() => pidOf(client))
    const second = client.callTool('talks_ask')
    await vi.waitFor(() => expect(asked).toHaveLength(2))
    await world.operator.expectOk('DELETE', `/upstreams/${ids.talks}`)
    expect(await second).toMatchObject({ isError: true })
    await vi.waitFor(() => expect(asked[1]?.signal.aborted).toBe(true))
    await gone([pid])
  })

  it('ends with the session of the client, and so does its process', async () => {
    const { asked, extras } = answering(never)
    const client = await connect('sdk 1', talks.serverId, extras)
    const pid = await pidOf(client)
    client.callTool('talks_ask').catch(() => {})
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    await client.end()
    await gone([pid])
  })
})

describe('anonymous stateless clients that can be asked', () => {
  it('share a connection until one of them has been asked over it', async () => {
    const [one, other] = [answering(), answering()]
    const first = await connect('sdk 2 stateless', talks.serverId, one.extras)
    const second = await connect('sdk 2 stateless', talks.serverId, other.extras)
    const shared = await pidOf(first)
    expect(await pidOf(second)).toBe(shared)
    await first.callTool('talks_ask')
    await gone([shared])
    expect(await pidOf(second)).not.toBe(shared)
  })

  const META = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  }
  const Answer = z.object({ result: z.looseObject({ resultType: z.string(), isError: z.boolean().optional() }) })
  const ask = async (serverId: string, token?: string) => {
    const name = 'far_trigger-elicitation-request'
    const params = { name, arguments: {}, _meta: META }
    const response = await postStateless(`${patchbay.origin}/s/${serverId}`, token, 'tools/call', params)
    return Answer.parse(await response.json()).result
  }

  it('do not use up the connections of users who are signed in', async () => {
    const port = await startEverything('streamableHttp')
    const { serverId } = await makeServer({ far: { transport: 'http', url: `http://127.0.0.1:${port}/mcp` } })
    const all = await Promise.all(Array.from({ length: 26 }, () => ask(serverId)))
    expect(all.filter(({ resultType }) => resultType === 'input_required')).toHaveLength(25)
    expect(all.filter(({ isError }) => isError)).toMatchObject([
      { content: [{ text: expect.stringContaining('All 25 dedicated connections') }] },
    ])
    expect(await ask(serverId, world.operator.token)).toMatchObject({ resultType: 'input_required' })
  })
})

describe('a log message that an upstream sends after it has responded', () => {
  it('reaches only the client whose call it is about', async () => {
    const { serverId } = await makeServer({ talks: commandOf('talks-old') })
    const [one, other] = [await connect('sdk 1', serverId), await connect('sdk 2', serverId)]
    await one.setLevel('debug')
    await other.setLevel('debug')
    await one.callTool('talks_late', { for: 'one' })
    await vi.waitFor(() => expect(one.logs.map(({ data }) => data)).toEqual([{ for: 'one' }]))
    await other.callTool('talks_say', { for: 'other' })
    await vi.waitFor(() => expect(other.logs).toHaveLength(3))
    expect(other.logs.map(({ data }) => data)).toEqual(Array.from({ length: 3 }, () => ({ for: 'other' })))
  })
})
