import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { runPatchbay } from '../servers/patchbay.ts'
import { type ApiClient, signUp } from '../support/api-client.ts'
import {
  CLIENT_KINDS,
  type ClientExtras,
  type ClientKind,
  connectClient,
  jsonOf,
  PAIRS,
  SOME_PAIRS,
} from './clients.ts'
import { commandOf, everythingCommand, gone } from './support.ts'

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

/** A client with every capability. `asked` lists the requests it received. */
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

const answeredTo = (line: string, answered: object): object =>
  line === 'talks-old' ? answered : { answered, state: 'the state' }

describe.each(PAIRS)('an upstream of era $line that asks client $kind', ({ kind, line }) => {
  it('gets answers to its questions during a call', async () => {
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
})

describe.each(SOME_PAIRS)('an upstream of era $line that asks client $kind', ({ kind, line }) => {
  let serverId = ''
  beforeAll(async () => {
    serverId = await makeServer('talks', commandOf(line))
  })

  it('asks only the client that made the call', async () => {
    const [one, other] = [answering('one'), answering('other')]
    const clients = [await connect(kind, serverId, one.extras), await connect(kind, serverId, other.extras)]
    const answers = await Promise.all(clients.map(client => client.callTool('talks_ask')))
    expect(answers.map(jsonOf)).toMatchObject(
      ['one', 'other'].map(name => answeredTo(line, { action: 'accept', content: { name } })),
    )
    expect([one.asked.length, other.asked.length]).toEqual([1, 1])
  })

  it('gets a clear error if the client cannot be asked', async () => {
    const client = await connect(kind, serverId)
    const { isError, content } = await client.callTool('talks_ask')
    expect(isError).toBe(true)
    expect(JSON.stringify(content)).toMatch(
      /Client does not support|do not declare the required capability|Method not found/,
    )
  })
})

describe.each(CLIENT_KINDS)('an upstream that asks client %s for a capability it does not have', kind => {
  it('is refused without asking the client', async () => {
    const serverId = await makeServer('talks', commandOf('talks-new'))
    const { asked, extras } = answering()
    const client = await connect(kind, serverId, {
      ...extras,
      capabilities: { roots: {} },
      prepare1: () => {},
      prepare2: () => {},
    })
    expect(await client.callTool('talks_unoffered')).toMatchObject({ isError: true })
    expect(asked).toEqual([])
  })
})

describe('an upstream that requires opening a URL before it can be called', () => {
  const OPENED = { mode: 'url', url: 'https://example.com/go', message: 'Go there first' }

  it.each(['sdk 1', 'sdk 1 over sse', 'sdk 2'] as const)('returns the error for that to %s', async kind => {
    const serverId = await makeServer('talks', commandOf('talks-old'))
    const client = await connect(kind, serverId, answering().extras)
    await expect(client.callTool('talks_go')).rejects.toMatchObject({
      code: -32042,
      data: { elicitations: [{ ...OPENED, elicitationId: 'e1' }] },
    })
    expect(jsonOf(await client.callTool('talks_go'))).toBe('went')
  })

  it('asks a stateless client, which then repeats the call', async () => {
    const serverId = await makeServer('talks', commandOf('talks-old'))
    const { asked, extras } = answering()
    const client = await connect('sdk 2 stateless', serverId, extras)
    expect(jsonOf(await client.callTool('talks_go'))).toBe('went')
    expect(asked).toMatchObject([OPENED])
  })

  it.each(CLIENT_KINDS)('explains it in words to %s, which cannot be asked', async kind => {
    const serverId = await makeServer('talks', commandOf('talks-old'))
    const client = await connect(kind, serverId)
    expect(await client.callTool('talks_go')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Open this address first: https://example.com/go') }],
    })
  })
})

describe('a client with a session that can answer questions', () => {
  it('gets its own process, which ends with its session', async () => {
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

  it('keeps its call open while it decides', async () => {
    const serverId = await makeServer('talks', { ...commandOf('talks-old'), timeoutMs: 1_500 })
    const client = await connect('sdk 2', serverId, {
      capabilities: { elicitation: {} },
      prepare2: asked => {
        asked.setRequestHandler('elicitation/create', async () => {
          await new Promise(resolve => setTimeout(resolve, 2_500))
          return ANSWER
        })
      },
    })
    expect(jsonOf(await client.callTool('talks_ask'))).toEqual(ANSWER)
  })

  it('notifies an upstream that its roots have changed', async () => {
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

describe('the everything server, some of whose tools need a client that can be asked', () => {
  it.each(['sdk 1', 'sdk 2'] as const)('lists those tools to %s and runs them', async kind => {
    const serverId = await makeServer('every', everythingCommand())
    const { extras, asked } = answering()
    const client = await connect(kind, serverId, extras)
    const textOf = async (name: string, given: Record<string, unknown> = {}) =>
      JSON.stringify((await client.callTool(`every_${name}`, given)).content)
    expect(await textOf('trigger-elicitation-request')).toContain('Name: Ada')
    const url = { url: 'https://example.com/', message: 'Go there' }
    expect(await textOf('trigger-url-elicitation', url)).toContain('accept')
    expect(asked.at(-1)).toMatchObject({ mode: 'url', ...url })
    expect(await textOf('trigger-sampling-request', { prompt: 'Hi' })).toContain('hello')
    expect(await textOf('get-roots-list')).toContain('file:///work')
    const namesFor = async (of: typeof client): Promise<string[]> =>
      z
        .object({ tools: z.array(z.object({ name: z.string() })) })
        .parse(await of.request('tools/list'))
        .tools.map(({ name }) => name)
    await vi.waitFor(async () => expect(await namesFor(client)).toContain('every_trigger-sampling-request'))
    const other = await connect(kind, serverId)
    expect(await namesFor(other)).not.toContain('every_trigger-sampling-request')
    await expect(other.callTool('every_trigger-sampling-request')).rejects.toThrow('Unknown tool')
  })

  it('runs them for a stateless client', async () => {
    const serverId = await makeServer('every', everythingCommand())
    const client = await connect('sdk 2 stateless', serverId, answering().extras)
    const { content } = await client.callTool('every_trigger-elicitation-request')
    expect(JSON.stringify(content)).toContain('Name: Ada')
  })
})

describe('a grouped server with tools that need a client that can be asked', () => {
  const namesOf = async (client: Awaited<ReturnType<typeof connect>>): Promise<string[]> =>
    jsonOf<{ name: string }[]>(await client.callTool('get_dynamic_tools', { group: 'every' })).map(({ name }) => name)
  const elicit = { group: 'every', name: 'trigger-elicitation-request' }

  it.each(['sdk 1', 'sdk 2'] as const)('lists them to %s and runs them', async kind => {
    const serverId = await makeServer('every', everythingCommand())
    await operator.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'grouped' })
    const client = await connect(kind, serverId, answering().extras)
    expect(JSON.stringify(await client.callTool('call_dynamic_tool', elicit))).toContain('Name: Ada')
    await vi.waitFor(async () => expect(await namesOf(client)).toContain('trigger-sampling-request'))
    const other = await connect(kind, serverId)
    expect(await namesOf(other)).not.toContain('trigger-sampling-request')
    expect(await other.callTool('call_dynamic_tool', elicit)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('There is no tool') }],
    })
  })

  it('runs them for a client without a session', async () => {
    const serverId = await makeServer('every', everythingCommand())
    await operator.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'grouped' })
    const client = await connect('sdk 2 stateless', serverId, answering().extras)
    expect(JSON.stringify(await client.callTool('call_dynamic_tool', elicit))).toContain('Name: Ada')
  })
})

describe('the state that a stateless client returns', () => {
  const META = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  }
  const Result = z.looseObject({
    result: z.looseObject({ inputRequests: z.record(z.string(), z.unknown()), requestState: z.string() }),
  })
  /** Sends one raw request. */
  const call = async (serverId: string, more: object = {}, name = 'talks_ask') => {
    const response = await fetch(`${patchbay.origin}/s/${serverId}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: {}, ...more, _meta: META },
      }),
    })
    const answer: unknown = await response.json()
    return answer
  }
  /** The state of a request that needs more input, and the answers to its questions. */
  const begin = async (serverId: string) => {
    const { inputRequests, requestState } = Result.parse(await call(serverId)).result
    return { requestState, inputResponses: Object.fromEntries(Object.keys(inputRequests).map(key => [key, ANSWER])) }
  }
  const refused = { error: { code: -32602, message: expect.stringContaining('requestState') } }

  it.each(['talks-old', 'talks-new'] as const)(
    'is good for the request it was given for, and no other: %s',
    async line => {
      const serverId = await makeServer('talks', commandOf(line))
      const { requestState, inputResponses } = await begin(serverId)
      const other = await makeServer('talks', commandOf(line))
      expect(await call(other, { requestState, inputResponses })).toMatchObject(refused)
      expect(await call(serverId, { requestState, inputResponses }, 'talks_sample')).toMatchObject(refused)
      expect(await call(serverId, { requestState, inputResponses, arguments: { a: 1 } })).toMatchObject(refused)
      expect(await call(serverId, { requestState: `${requestState}x`, inputResponses })).toMatchObject(refused)
      expect(await call(serverId, { requestState: 'mine', inputResponses })).toMatchObject(refused)
      expect(await call(serverId, { requestState, inputResponses })).toMatchObject({
        result: { resultType: 'complete', content: [{ type: 'text' }] },
      })
    },
  )

  it('works once while its call waits: late answers are rejected, and missing ones are requested again', async () => {
    const serverId = await makeServer('talks', commandOf('talks-old'))
    const { requestState, inputResponses } = await begin(serverId)
    const again = Result.parse(await call(serverId, { requestState })).result
    expect(Object.keys(again.inputRequests)).toEqual(Object.keys(inputResponses))
    const done = { requestState: again.requestState, inputResponses }
    expect(await call(serverId, done)).toMatchObject({ result: { resultType: 'complete' } })
    expect(await call(serverId, done)).toMatchObject({
      result: {
        isError: true,
        content: [{ text: expect.stringContaining('has ended. Repeat it without requestState') }],
      },
    })
  })
})
