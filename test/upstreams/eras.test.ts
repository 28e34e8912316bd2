import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  isLegacyRequest,
  McpServer,
  MissingRequiredClientCapabilityError,
  ResourceNotFoundError,
  ResourceTemplate,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { describe, expect, it, vi } from 'vitest'
import { META, portOf, postStateless } from '../mcp/wire.ts'
import { during } from '../support/world.ts'
import { runAttached } from './attached.ts'
import { type AnyClient, type ClientExtras, textOf } from './clients.ts'

const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })
const FORM = {
  message: 'Who are you?',
  requestedSchema: { type: 'object' as const, properties: { name: { type: 'string' as const } } },
}

const build = (): McpServer => {
  const server = new McpServer({ name: 'eras', version: '1' })
  server.registerTool('era', {}, ({ mcpReq }) => text(mcpReq.envelope === undefined ? 'session' : 'stateless'))
  server.registerTool('push', {}, async ({ mcpReq }) => text(JSON.stringify((await mcpReq.elicitInput(FORM)).content)))
  server.registerTool('ask', {}, ({ mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, 'it')
    return given === undefined
      ? inputRequired({ inputRequests: { it: inputRequired.elicit(FORM) } })
      : text(JSON.stringify(given))
  })
  server.registerTool('late', {}, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
    return inputRequired({ inputRequests: { it: inputRequired.elicit(FORM) } })
  })
  server.registerPrompt('demanding', {}, () => {
    throw new MissingRequiredClientCapabilityError({
      requiredCapabilities: { experimental: { long: { text: 'x'.repeat(2_000) } } },
    })
  })
  server.registerPrompt('ask', {}, () => inputRequired({ inputRequests: { it: inputRequired.elicit(FORM) } }))
  const template = new ResourceTemplate('memo://{id}', { list: undefined })
  server.registerResource('memo', template, {}, ({ href }) => {
    throw new ResourceNotFoundError(href)
  })
  return server
}

/**
 * Runs servers built with the newest SDK: at `/both` with sessions and without, at `/stateless` without sessions only,
 * and at `/sessionless` with the older versions, but without their sessions. `/moody` is `/both`, but every second
 * session is refused. `/broken` is `/both`, but cannot open sessions at the moment.
 */
const startEras = async () => {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const stateless = createMcpHandler(build, { legacy: 'reject' })
  const opened = new Map<string, number>()
  const serveBoth = async (request: Request): Promise<Response> => {
    if (!(await isLegacyRequest(request))) return stateless.fetch(request)
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '')
    if (known !== undefined) return known.handleRequest(request)
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: id => void sessions.set(id, transport),
    })
    await build().connect(transport)
    return transport.handleRequest(request)
  }
  /** Counts the requests that would open a session. */
  const counted =
    (serve: (request: Request) => Promise<Response>, path: string) =>
    async (request: Request): Promise<Response> => {
      const isOpening = !request.headers.has('mcp-session-id') && (await isLegacyRequest(request.clone()))
      const times = (opened.get(path) ?? 0) + (isOpening ? 1 : 0)
      opened.set(path, times)
      if (isOpening && path === '/broken') return new Response(null, { status: 500 })
      return isOpening && path === '/moody' && times % 2 === 0 ? new Response(null, { status: 404 }) : serve(request)
    }
  const handlers: Readonly<Record<string, ReturnType<typeof toNodeHandler>>> = {
    '/both': toNodeHandler({ fetch: serveBoth }),
    '/moody': toNodeHandler({ fetch: counted(serveBoth, '/moody') }),
    '/broken': toNodeHandler({ fetch: counted(serveBoth, '/broken') }),
    '/stateless': toNodeHandler({ fetch: counted(stateless.fetch, '/stateless') }),
    '/sessionless': toNodeHandler(createMcpHandler(build)),
  }
  const listener = createServer((request, response) => {
    const { method = '', url = '' } = request
    void handlers[url]?.(Object.assign(request, { method, url }), response)
  })
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${portOf(listener)}`,
    /** Returns how often a session was requested. */
    timesOpened: (path: string): number => opened.get(path) ?? 0,
    close: async () => {
      for (const transport of sessions.values()) await transport.close()
      listener.closeAllConnections()
      await new Promise(resolve => listener.close(resolve))
    },
  }
}

const { connect, makeServer } = runAttached()
const eras = during(startEras)
const attach = (path: string) => makeServer({ eras: { transport: 'http', url: `${eras.origin}${path}` } })
const servers = during(async () => ({
  both: await attach('/both'),
  stateless: await attach('/stateless'),
  sessionless: await attach('/sessionless'),
  moody: await attach('/moody'),
}))

/** A client that never answers. */
const silent = (): ClientExtras & { times: () => number } => {
  const asked = vi.fn(() => new Promise<never>(() => {}))
  return {
    times: () => asked.mock.calls.length,
    capabilities: { elicitation: {} },
    prepare1: client => client.setRequestHandler(ElicitRequestSchema, asked),
  }
}

/** A client that answers with a name, or refuses with the given words. */
const asked = (refusal?: string, name = 'Ada'): ClientExtras => {
  const answer = () => {
    if (refusal !== undefined) throw new Error(refusal)
    return { action: 'accept' as const, content: { name } }
  }
  return {
    capabilities: { elicitation: {} },
    prepare1: client => client.setRequestHandler(ElicitRequestSchema, answer),
    prepare2: client => client.setRequestHandler('elicitation/create', answer),
  }
}

describe('an upstream that supports both eras', () => {
  it('is called in the era of the client if it can ask this client, and else in the newer one', async () => {
    const { serverId } = servers.both
    const eraFor = async (...client: Parameters<typeof connect>) =>
      textOf(await (await connect(...client)).callTool('eras_era'))
    expect(await eraFor('sdk 1', serverId, asked())).toBe('session')
    expect(await eraFor('sdk 2', serverId, asked())).toBe('session')
    expect(await eraFor('sdk 2 stateless', serverId, asked())).toBe('stateless')
    expect(await eraFor('sdk 1', serverId)).toBe('stateless')
  })

  it.each(['sdk 1', 'sdk 1 over sse', 'sdk 2'] as const)(
    'can send requests to a client with a session (%s)',
    async kind => {
      const client = await connect(kind, servers.both.serverId, asked())
      expect(textOf(await client.callTool('eras_push'))).toBe('{"name":"Ada"}')
      expect(textOf(await client.callTool('eras_ask'))).toBe('{"name":"Ada"}')
    },
  )
})

describe('clients with a session of an upstream that supports both eras', () => {
  const eraOf = async (client: AnyClient) => textOf(await client.callTool('eras_era'))

  it('each answer what they are asked, also at once', async () => {
    const clients = await Promise.all(
      ['Ada', 'Bob'].map(name => connect('sdk 1', servers.both.serverId, asked(undefined, name))),
    )
    const answers = await Promise.all(clients.map(client => client.callTool('eras_push')))
    expect(answers.map(textOf)).toEqual(['{"name":"Ada"}', '{"name":"Bob"}'])
  })

  it('are not affected by the refusal of another one’s session', async () => {
    const [first, second, third] = [
      await connect('sdk 1', servers.moody.serverId, asked()),
      await connect('sdk 2', servers.moody.serverId, asked()),
      await connect('sdk 1', servers.moody.serverId, asked()),
    ]
    expect(await eraOf(first)).toBe('session')
    expect(await eraOf(second)).toBe('stateless')
    expect(await eraOf(first)).toBe('session')
    expect(await eraOf(third)).toBe('session')
    const times = eras.timesOpened('/moody')
    expect(await eraOf(second)).toBe('stateless')
    expect(eras.timesOpened('/moody')).toBe(times)
  })

  it('use the shared connection if all of their connections are in use', async () => {
    const { serverId } = await attach('/both')
    const silentOnes = Array.from({ length: 25 }, silent)
    for (const extras of silentOnes) {
      const client = await connect('sdk 1', serverId, extras)
      client.callTool('eras_push').catch(() => {})
    }
    await vi.waitFor(() => expect(silentOnes.map(({ times }) => times())).toEqual(silentOnes.map(() => 1)), 10_000)
    expect(await eraOf(await connect('sdk 1', serverId, asked()))).toBe('stateless')
  })
})

describe('an upstream that refuses sessions', () => {
  it('is not asked for one again', async () => {
    const { serverId } = await attach('/stateless')
    await (await connect('sdk 1', serverId, asked())).callTool('eras_era')
    const times = eras.timesOpened('/stateless')
    expect(times).toBeGreaterThan(0)
    const client = await connect('sdk 1', serverId, asked())
    expect(textOf(await client.callTool('eras_era'))).toBe('stateless')
    expect(eras.timesOpened('/stateless')).toBe(times)
  })
})

describe('an upstream that cannot open sessions at the moment', () => {
  it('is asked for one only once for each client', async () => {
    const { serverId } = await attach('/broken')
    for (const times of [1, 2]) {
      const client = await connect('sdk 1', serverId, asked())
      for (const _call of ['first', 'second']) expect(textOf(await client.callTool('eras_era'))).toBe('stateless')
      expect(eras.timesOpened('/broken')).toBe(times)
    }
  })
})

describe.each(['stateless', 'sessionless'] as const)('an upstream that cannot send requests (%s)', path => {
  it('asks a client with a session in its results', async () => {
    const client = await connect('sdk 1', servers[path].serverId, asked())
    expect(textOf(await client.callTool('eras_ask'))).toBe('{"name":"Ada"}')
    expect(textOf(await client.callTool('eras_ask'))).toBe('{"name":"Ada"}')
  })
})

describe('a client that refuses the request of an upstream', () => {
  it.each(['both', 'stateless'] as const)('finds its own words in the error of the tool (%s)', async path => {
    const client = await connect('sdk 1', servers[path].serverId, asked('Not before noon'))
    const result = await client.callTool('eras_ask')
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('Not before noon')
    expect(textOf(result)).not.toContain('server log')
  })

  it('finds its own words in the error of a prompt', async () => {
    const client = await connect('sdk 2', servers.stateless.serverId, asked('Not before noon'))
    await expect(client.request('prompts/get', { name: 'eras_ask' })).rejects.toThrow('Not before noon')
  })
})

describe('an upstream that needs a capability that the client lacks', () => {
  const missing = { code: -32021, data: { requiredCapabilities: { elicitation: {} } } }
  const send = (method: string, name: string, meta: object = {}) =>
    postStateless(servers.stateless.url, undefined, method, { name, arguments: {}, _meta: { ...META, ...meta } })

  it.each(['tools/call', 'prompts/get'])('is answered with HTTP 400 and an error that names it (%s)', async method => {
    const response = await send(method, 'eras_ask')
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: missing })
  })

  it('is answered without the capabilities if their description is long', async () => {
    const response = await send('prompts/get', 'eras_demanding')
    expect(await response.json()).toMatchObject({ error: { code: missing.code, data: {} } })
  })

  it('is answered with this error in the stream if something has been sent', async () => {
    const response = await send('tools/call', 'eras_late', { progressToken: 1 })
    expect(response.status).toBe(200)
    const messages = (await response.text()).split('\n').filter(line => line.startsWith('data: {'))
    expect(messages.map(line => JSON.parse(line.slice('data: '.length)))).toMatchObject([
      { method: 'notifications/progress' },
      { error: missing },
    ])
  })

  it('is answered with this error in a session', async () => {
    const client = await connect('sdk 1', servers.stateless.serverId)
    await expect(client.callTool('eras_ask')).rejects.toMatchObject(missing)
  })

  it('is answered with this error for other capabilities too', async () => {
    const client = await connect('sdk 1', servers.stateless.serverId, {
      capabilities: { sampling: {} },
      prepare1: sampling => sampling.setRequestHandler(CreateMessageRequestSchema, () => Promise.reject()),
    })
    await expect(client.callTool('eras_ask')).rejects.toMatchObject(missing)
  })
})

describe('an unknown resource of an upstream', () => {
  it.each([
    ['sdk 1', -32002],
    ['sdk 2 stateless', -32602],
  ] as const)('has the code of the client’s version (%s)', async (kind, code) => {
    const client = await connect(kind, servers.stateless.serverId)
    for (const uri of ['memo://7', 'file:///nowhere']) {
      await expect(client.request('resources/read', { uri })).rejects.toMatchObject({ code, data: { uri } })
    }
  })
})
