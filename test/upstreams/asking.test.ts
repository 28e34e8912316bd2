import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import { postStateless } from '../mcp/wire.ts'
import { during } from '../support/world.ts'
import { runAttached } from './attached.ts'
import { type AnyClient, type ClientExtras, jsonOf, PAIRS, SOME_PAIRS } from './clients.ts'
import { commandOf, everythingCommand, gone } from './support.ts'

const { patchbay, connect, makeServer } = runAttached()
const makeTalks = async (line: 'talks-old' | 'talks-new', fields: object = {}): Promise<string> =>
  (await makeServer({ talks: { ...commandOf(line), ...fields } })).serverId
/** One server for each SDK generation, for tests that do not change the server's upstream. */
const servers = during(async () => ({
  'talks-old': await makeTalks('talks-old'),
  'talks-new': await makeTalks('talks-new'),
}))

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
}
const ANSWER = { action: 'accept' as const, content: { name: 'Ada' } }
const SAMPLE = { role: 'assistant' as const, model: 'm', content: { type: 'text' as const, text: 'hello' } }
const ROOTS = [{ uri: 'file:///work', name: 'work' }]

/** Returns the options of a client that answers every kind of request. `asked` contains the params of the requests. */
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

describe.each(PAIRS)('an upstream ($line) that asks the client ($kind) during a call', ({ kind, line }) => {
  it('receives the answers to elicitation, sampling and roots requests', async () => {
    const { asked, extras } = answering()
    const client = await connect(kind, servers[line], extras)
    expect(jsonOf(await client.callTool('talks_ask'))).toEqual(answeredTo(line, ANSWER))
    expect(jsonOf(await client.callTool('talks_sample'))).toEqual(answeredTo(line, SAMPLE))
    expect(jsonOf(await client.callTool('talks_roots'))).toEqual(answeredTo(line, { roots: ROOTS }))
    expect(asked).toMatchObject([
      { message: 'Who are you?', requestedSchema: { properties: { name: { type: 'string' } } } },
      { messages: [{ role: 'user', content: { type: 'text', text: 'Say hello' } }], maxTokens: 10 },
    ])
  })
})

describe.each(SOME_PAIRS)('an upstream ($line) that asks the client ($kind) during a call', ({ kind, line }) => {
  it('gets an error when the client cannot be asked', async () => {
    const client = await connect(kind, servers[line])
    const outcome = await client.callTool('talks_ask').catch((error: unknown) => error)
    const text = expect.stringMatching(/Client does not support|Method not found/)
    expect(outcome).toMatchObject(line === 'talks-new' ? { code: -32021 } : { isError: true, content: [{ text }] })
  })
})

describe.each([
  { kind: 'sdk 1', line: 'talks-old' },
  { kind: 'sdk 2 stateless', line: 'talks-new' },
] as const)('two clients ($kind) that call an upstream ($line) at once', ({ kind, line }) => {
  it('are each asked about their own call only', async () => {
    const [one, other] = [answering('one'), answering('other')]
    const serverId = servers[line]
    const clients = [await connect(kind, serverId, one.extras), await connect(kind, serverId, other.extras)]
    const answers = await Promise.all(clients.map(client => client.callTool('talks_ask')))
    expect(answers.map(jsonOf)).toMatchObject(
      ['one', 'other'].map(name => answeredTo(line, { action: 'accept', content: { name } })),
    )
    expect([one.asked.length, other.asked.length]).toEqual([1, 1])
  })
})

describe.each(['sdk 1', 'sdk 2 stateless'] as const)('an upstream that samples without the capability (%s)', kind => {
  it('is refused, and the client is not asked', async () => {
    const { asked, extras } = answering()
    const client = await connect(kind, servers['talks-new'], {
      ...extras,
      capabilities: { roots: {} },
      prepare1: () => {},
      prepare2: () => {},
    })
    const outcome = await client.callTool('talks_unoffered').catch((error: unknown) => error)
    expect(outcome).toMatchObject(kind === 'sdk 1' ? { isError: true } : { code: -32021 })
    expect(asked).toEqual([])
  })
})

describe('an upstream that requires a URL to be opened before the call', () => {
  const OPENED = { mode: 'url', url: 'https://example.com/go', message: 'Go there first' }

  it.each(['sdk 1 over sse', 'sdk 2'] as const)('returns the URL elicitation error to a session (%s)', async kind => {
    const client = await connect(kind, servers['talks-old'], answering().extras)
    await expect(client.callTool('talks_go')).rejects.toMatchObject({
      code: -32042,
      data: { elicitations: [{ ...OPENED, elicitationId: 'e1' }] },
    })
    expect(jsonOf(await client.callTool('talks_go'))).toBe('went')
  })

  it('asks a stateless client, which then repeats the call', async () => {
    const { asked, extras } = answering()
    const client = await connect('sdk 2 stateless', await makeTalks('talks-old'), extras)
    expect(jsonOf(await client.callTool('talks_go'))).toBe('went')
    expect(asked).toMatchObject([OPENED])
  })

  it.each(['sdk 1', 'sdk 2 stateless'] as const)('names the URL in the result if %s cannot be asked', async kind => {
    const client = await connect(kind, await makeTalks('talks-old'))
    expect(await client.callTool('talks_go')).toMatchObject({
      isError: true,
      content: [
        {
          text: expect.stringMatching(
            /returned the error -32042: (?!MCP error)[^.]+\. Open this URL first: https:\/\/example\.com\/go$/,
          ),
        },
      ],
    })
  })
})

describe('a session whose client can be asked', () => {
  it('has an upstream process of its own, which ends with the session', async () => {
    const serverId = servers['talks-old']
    const pidOf = async (client: AnyClient) =>
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

  it('may take longer to answer than a call may take', async () => {
    const serverId = await makeTalks('talks-old', { timeoutMs: 1_000 })
    const impatient = await connect('sdk 1', serverId)
    const client = await connect('sdk 2', serverId, {
      capabilities: { elicitation: {} },
      prepare2: asked => {
        asked.setRequestHandler('elicitation/create', async () => {
          // Meanwhile, a call that starts later times out.
          expect(await impatient.callTool('talks_wait')).toMatchObject({ isError: true })
          return ANSWER
        })
      },
    })
    expect(jsonOf(await client.callTool('talks_ask'))).toEqual(ANSWER)
  })

  it('tells the upstream that its roots have changed', async () => {
    let changed = (): Promise<void> => Promise.resolve()
    const client = await connect('sdk 1', servers['talks-old'], {
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

describe('an upstream with tools only for clients that can be asked', () => {
  const flat = during(() => makeServer({ every: everythingCommand() }))
  const grouped = during(() => makeServer({ every: everythingCommand() }, { presentation: 'grouped' }))
  const elicit = { group: 'every', name: 'trigger-elicitation-request' }

  it('lists and runs them for such a client, and for no other', async () => {
    const { extras, asked } = answering()
    const client = await connect('sdk 1', flat.serverId, extras)
    const textOf = async (name: string, given: Record<string, unknown> = {}) =>
      JSON.stringify((await client.callTool(`every_${name}`, given)).content)
    expect(await textOf('trigger-elicitation-request')).toContain('Name: Ada')
    const url = { url: 'https://example.com/', message: 'Go there' }
    expect(await textOf('trigger-url-elicitation', url)).toContain('accept')
    expect(asked.at(-1)).toMatchObject({ mode: 'url', ...url })
    expect(await textOf('trigger-sampling-request', { prompt: 'Hi' })).toContain('hello')
    expect(await textOf('get-roots-list')).toContain('file:///work')
    const namesFor = async (of: AnyClient): Promise<string[]> =>
      z
        .object({ tools: z.array(z.object({ name: z.string() })) })
        .parse(await of.request('tools/list'))
        .tools.map(({ name }) => name)
    await vi.waitFor(async () => expect(await namesFor(client)).toContain('every_trigger-sampling-request'))
    const other = await connect('sdk 1', flat.serverId)
    expect(await namesFor(other)).not.toContain('every_trigger-sampling-request')
    await expect(other.callTool('every_trigger-sampling-request')).rejects.toThrow('Unknown tool')
  })

  it('lists and runs them for such a client of a grouped server, and for no other', async () => {
    const namesOf = async (client: AnyClient): Promise<string[]> =>
      jsonOf<{ name: string }[]>(await client.callTool('get_dynamic_tools', { group: 'every' })).map(({ name }) => name)
    const client = await connect('sdk 2', grouped.serverId, answering().extras)
    expect(JSON.stringify(await client.callTool('call_dynamic_tool', elicit))).toContain('Name: Ada')
    await vi.waitFor(async () => expect(await namesOf(client)).toContain('trigger-sampling-request'))
    const other = await connect('sdk 2', grouped.serverId)
    expect(await namesOf(other)).not.toContain('trigger-sampling-request')
    expect(await other.callTool('call_dynamic_tool', elicit)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('There is no tool') }],
    })
  })

  it('runs them for a stateless client, of a flat and of a grouped server', async () => {
    const client = await connect('sdk 2 stateless', flat.serverId, answering().extras)
    const { content } = await client.callTool('every_trigger-elicitation-request')
    expect(JSON.stringify(content)).toContain('Name: Ada')
    const other = await connect('sdk 2 stateless', grouped.serverId, answering().extras)
    expect(JSON.stringify(await other.callTool('call_dynamic_tool', elicit))).toContain('Name: Ada')
  })

  it.each(['text', [], null])('refuses the arguments %j, which are not an object', async given => {
    const params = { name: 'every_trigger-elicitation-request', arguments: given }
    const { extras, asked } = answering()
    const client = await connect('sdk 1', flat.serverId, extras)
    const refusal = 'arguments is not an object'
    await expect(client.request('tools/call', params)).rejects.toThrow(refusal)
    const url = `${patchbay.origin}/s/${flat.serverId}`
    const response = await postStateless(url, undefined, 'tools/call', { ...params, _meta: META })
    expect(await response.json()).toMatchObject({ error: { code: -32602, message: expect.stringContaining(refusal) } })
    expect(asked).toEqual([])
  })
})

describe('the request state that a stateless client returns', () => {
  const Result = z.looseObject({
    result: z.looseObject({ inputRequests: z.record(z.string(), z.unknown()), requestState: z.string() }),
  })
  /** Sends one raw tool call. */
  const call = async (serverId: string, more: JsonObject = {}, name = 'talks_ask') => {
    const params = { name, arguments: {}, ...more, _meta: META }
    const response = await postStateless(`${patchbay.origin}/s/${serverId}`, undefined, 'tools/call', params)
    const answer: unknown = await response.json()
    return answer
  }
  /** Starts a call that asks for input. Returns its state and the responses to its questions. */
  const begin = async (serverId: string) => {
    const { inputRequests, requestState } = Result.parse(await call(serverId)).result
    return { requestState, inputResponses: Object.fromEntries(Object.keys(inputRequests).map(key => [key, ANSWER])) }
  }
  const refused = { error: { code: -32602, message: expect.stringContaining('requestState') } }

  it.each(['talks-old', 'talks-new'] as const)(
    'is accepted for the request it was issued for, and for no other (%s)',
    async line => {
      const serverId = servers[line]
      const { requestState, inputResponses } = await begin(serverId)
      const other = await makeTalks(line)
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

  it('asks again for a missing answer, and reports a call that has already ended', async () => {
    const serverId = servers['talks-old']
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
