import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { runPatchbay } from '../servers/patchbay.ts'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { CLIENT_KINDS, type ClientExtras, type ClientKind, connectClient, jsonOf } from './clients.ts'
import { commandOf, gone } from './support.ts'

const patchbay = runPatchbay(undefined, { PATCHBAY_ALLOW_STDIO: 'true' })
let operator: ApiClient & { userId: string }
beforeAll(async () => {
  operator = await signUp(patchbay.origin, 'operator@example.com')
})

const makeServer = async (name: string, body: object): Promise<string> => {
  const { id: serverId } = await operator.create('/servers', { name: 'Asking', access: 'public' })
  const { id } = await operator.create(`/servers/${serverId}/upstreams`, { name, ...body })
  await operator.expectOk('POST', `/upstreams/${id}/refresh`)
  return serverId
}
const connect = (kind: ClientKind, serverId: string, extras: ClientExtras = {}) =>
  connectClient(kind, `${patchbay.origin}/s/${serverId}`, extras)

const ANSWER = { action: 'accept' as const, content: { name: 'Ada' } }
const SAMPLE = { role: 'assistant' as const, model: 'm', content: { type: 'text' as const, text: 'hello' } }
const ROOTS = [{ uri: 'file:///work', name: 'work' }]

/** A client that can be asked everything; `asked` is what it was. */
const answering = (name = 'Ada') => {
  const asked: unknown[] = []
  const answer = { ...ANSWER, content: { name } }
  const extras: ClientExtras = {
    capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } },
    prepare1: client => {
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        asked.push(params)
        return answer
      })
      client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
        asked.push(params)
        return SAMPLE
      })
      client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: ROOTS }))
    },
    prepare2: client => {
      client.setRequestHandler('elicitation/create', ({ params }) => {
        asked.push(params)
        return answer
      })
      client.setRequestHandler('sampling/createMessage', ({ params }) => {
        asked.push(params)
        return SAMPLE
      })
      client.setRequestHandler('roots/list', () => ({ roots: ROOTS }))
    },
  }
  return { asked, extras }
}

const PAIRS = CLIENT_KINDS.filter(kind => kind !== 'sdk 2 stateless').flatMap(kind =>
  (['talks-old', 'talks-new'] as const).map(line => ({ kind, line })),
)
const answeredTo = (line: string, answered: object): object =>
  line === 'talks-old' ? answered : { answered, state: 'the state' }

describe.each(PAIRS)('a server of the line $line that asks the client $kind', ({ kind, line }) => {
  it('gets the answers to what it asks during a call', async () => {
    const serverId = await makeServer('talks', commandOf(line))
    const { asked, extras } = answering()
    const client = await connect(kind, serverId, extras)
    expect(jsonOf(await client.callTool('talks_ask'))).toEqual(answeredTo(line, ANSWER))
    expect(jsonOf(await client.callTool('talks_sample'))).toEqual(answeredTo(line, SAMPLE))
    expect(jsonOf(await client.callTool('talks_roots'))).toEqual(answeredTo(line, { roots: ROOTS }))
    expect(asked).toMatchObject([
      { message: 'Who are you?', requestedSchema: { properties: { name: { type: 'string' } } } },
      { messages: [{ role: 'user', content: { type: 'text', text: 'Say hello' } }], maxTokens: 10 },
    ])
  })

  it('asks whose call it is, and nobody else', async () => {
    const serverId = await makeServer('talks', commandOf(line))
    const [one, other] = [answering('one'), answering('other')]
    const clients = [await connect(kind, serverId, one.extras), await connect(kind, serverId, other.extras)]
    const answers = await Promise.all(clients.map(client => client.callTool('talks_ask')))
    expect(answers.map(jsonOf)).toMatchObject(
      ['one', 'other'].map(name => answeredTo(line, { action: 'accept', content: { name } })),
    )
    expect([one.asked.length, other.asked.length]).toEqual([1, 1])
  })

  it('is told clearly where the client cannot be asked', async () => {
    const serverId = await makeServer('talks', commandOf(line))
    const client = await connect(kind, serverId)
    const { isError, content } = await client.callTool('talks_ask')
    expect(isError).toBe(true)
    expect(JSON.stringify(content)).toMatch(
      /Client does not support|do not declare the required capability|Method not found/,
    )
  })
})

describe('a client with a session that can be asked', () => {
  it('has a process of its own, which ends with its session', async () => {
    const serverId = await makeServer('talks', commandOf('talks-old'))
    const pidOf = async (client: Awaited<ReturnType<typeof connect>>) =>
      jsonOf<{ pid: number; offered: object }>(await client.callTool('talks_told'))
    const one = await connect('sdk 1', serverId, answering().extras)
    const other = await connect('sdk 2', serverId, answering().extras)
    const plain = [await connect('sdk 1', serverId), await connect('sdk 2', serverId)] as const
    const [first, again, second] = [await pidOf(one), await pidOf(one), await pidOf(other)]
    expect(again.pid).toBe(first.pid)
    expect(first.offered).toEqual({ elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } })
    const shared = await pidOf(plain[0])
    expect((await pidOf(plain[1])).pid).toBe(shared.pid)
    expect(shared.offered).toEqual({})
    expect(new Set([first.pid, second.pid, shared.pid]).size).toBe(3)
    await one.end()
    await gone([first.pid])
    expect((await pidOf(other)).pid).toBe(second.pid)
  })

  it('keeps its call up while it thinks', async () => {
    const serverId = await makeServer('talks', { ...commandOf('talks-old'), timeoutMs: 500 })
    const client = await connect('sdk 2', serverId, {
      capabilities: { elicitation: {} },
      prepare2: asked => {
        asked.setRequestHandler('elicitation/create', async () => {
          await new Promise(resolve => setTimeout(resolve, 1_200))
          return ANSWER
        })
      },
    })
    expect(jsonOf(await client.callTool('talks_ask'))).toEqual(ANSWER)
  })

  it('tells an upstream that its roots have changed', async () => {
    const serverId = await makeServer('talks', commandOf('talks-old'))
    let changed = (): Promise<void> => Promise.resolve()
    const client = await connect('sdk 1', serverId, {
      ...answering().extras,
      prepare1: asked => {
        changed = () => asked.sendRootsListChanged()
      },
    })
    await client.callTool('talks_told')
    await changed()
    await vi.waitFor(async () => {
      expect(jsonOf<{ told: string[] }>(await client.callTool('talks_told')).told).toEqual(['roots changed'])
    })
  })
})
