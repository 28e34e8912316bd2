import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { connect, createServer } from 'node:net'
import { ProtocolError } from '@modelcontextprotocol/client'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { McpServer as OlderServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { type Api, listen, resolverOf, startApi, startRawApi } from '../lib/outbound/apis.ts'
import { callTool, faultOf, openUpstream, remote, startEverything, stateOf } from './support.ts'

const urlOf = ({ port }: Api, path = '/mcp'): string => `http://api.test:${port}${path}`

const TEXT = fromJsonSchema<{ text?: string }>({ type: 'object', properties: { text: { type: 'string' } } })

const buildNewer = (): McpServer => {
  const server = new McpServer({ name: 'newer', version: '2' }, { capabilities: { tools: { listChanged: true } } })
  server.registerTool('echo', { inputSchema: TEXT }, ({ text = '' }) => ({ content: [{ type: 'text', text }] }))
  return server
}

const isRequest = (request: IncomingMessage): request is IncomingMessage & { method: string; url: string } =>
  request.method !== undefined && request.url !== undefined

/** Starts a server of the newest SDK over HTTP, in the stateless era only. */
const startNewer = async () => {
  const seen: IncomingMessage[] = []
  const handler = createMcpHandler(buildNewer, { legacy: 'reject' })
  const handle = toNodeHandler(handler)
  const api = await startApi((request, response) => {
    seen.push(request)
    if (isRequest(request)) void handle(request, response)
  })
  return Object.assign(api, { seen, tellChanged: () => handler.notify.toolsChanged() })
}

/** Starts a server of the older SDK generation over HTTP. `forget` drops its sessions. */
const startOlder = async () => {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const opened: string[] = []
  const ended: string[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = String(request.headers['mcp-session-id'] ?? '')
    const known = sessions.get(id)
    if (known !== undefined) return known.handleRequest(request, response)
    if (id !== '') {
      response.writeHead(404).end('{}')
      return
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: session => {
        opened.push(session)
        sessions.set(session, transport)
      },
      onsessionclosed: session => void ended.push(session),
    })
    const server = new OlderServer({ name: 'older', version: '1' }, { capabilities: { tools: { listChanged: true } } })
    server.registerTool('echo', {}, () => ({ content: [{ type: 'text', text: 'from the older line' }] }))
    server.registerTool('hang', {}, () => new Promise(() => {}))
    server.registerTool('grow', {}, () => {
      server.registerTool('grown', {}, () => ({ content: [] }))
      return { content: [] }
    })
    await server.connect(transport)
    await transport.handleRequest(request, response)
  }
  const api = await startApi((request, response) => void handle(request, response))
  return Object.assign(api, { opened, ended, forget: () => sessions.clear() })
}

/** Starts an API that responds to JSON-RPC requests by method. Unknown methods get an error. */
type Answer = (response: ServerResponse, id: unknown) => void
const startByHand = (answers: Readonly<Record<string, Answer>>): Promise<Api> =>
  startApi((request, response) => {
    const parts: Buffer[] = []
    request.on('data', part => parts.push(part))
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end()
      const { id, method }: { id?: unknown; method: string } = JSON.parse(Buffer.concat(parts).toString())
      const answer = answers[method]
      if (answer !== undefined) answer(response, id)
      else if (id === undefined) response.writeHead(202).end()
      else json(response, { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } })
    })
  })
const json = (response: ServerResponse, message: unknown): void =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify(message))
const initialize: Answer = (response, id) =>
  json(response, {
    jsonrpc: '2.0',
    id,
    result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'hand', version: '1' } },
  })

describe('a published MCP server', () => {
  it.each([
    ['streamableHttp', 'http', '/mcp'],
    ['sse', 'sse', '/sse'],
  ] as const)('over %s answers as it does to any client', async (mode, transport, path) => {
    const port = await startEverything(mode)
    const upstream = openUpstream(remote(transport, `http://127.0.0.1:${port}${path}`))
    const client = await upstream.get()
    expect(client.getProtocolEra()).toBe('legacy')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('echo')
    expect(await callTool(upstream, 'echo', { message: 'hello' })).toBe('Echo: hello')
    const progress: unknown[] = []
    const { token, stop } = upstream.onProgress(step => void progress.push(step.progress))
    await upstream.run((connected, options) => {
      const given = { duration: 0.2, steps: 2 }
      const call = { name: 'trigger-long-running-operation', arguments: given, _meta: { progressToken: token } }
      return connected.callTool(call, options)
    })
    stop()
    expect(progress).toEqual([1, 2])
  })
})

describe('an upstream over HTTP', () => {
  it('is called without sessions in the stateless era, with the configured headers', async () => {
    const api = await startNewer()
    const upstream = openUpstream(remote('http', urlOf(api), { 'x-key': 'k' }))
    expect((await upstream.get()).getProtocolEra()).toBe('modern')
    expect(await callTool(upstream, 'echo', { text: 'hello' })).toBe('hello')
    expect(api.seen.map(({ headers }) => [headers['x-key'], headers['mcp-session-id']])).toEqual(
      api.seen.map(() => ['k', undefined]),
    )
  })

  it('has its name looked up for the organization of its server', async () => {
    const newer = await startNewer()
    const asked = new Set<string | undefined>()
    const resolve = resolverOf({ 'api.test': ['127.0.0.1'] })
    const upstream = openUpstream(remote('http', urlOf(newer)), {
      organizationId: 'acme',
      network: {
        lookup: (hostname, options, callback, organizationId) => {
          asked.add(organizationId)
          resolve(hostname, options, callback)
        },
      },
    })
    expect(await callTool(upstream, 'echo', { text: 'hi' })).toBe('hi')
    expect([...asked]).toEqual(['acme'])
  })

  it('announces changed lists over a stream in the stateless era, which is reopened if it breaks', async () => {
    const api = await startNewer()
    const upstream = openUpstream(remote('http', urlOf(api)))
    const told: string[] = []
    upstream.onNotification(({ method }) => void told.push(method))
    await upstream.get()
    const listens = (): number =>
      api.seen.filter(({ headers }) => headers['mcp-method'] === 'subscriptions/listen').length
    await expect.poll(listens).toBe(1)
    const tell = (): number => {
      api.tellChanged()
      return told.length
    }
    // Retries until the notification arrives, because the API receives the listen request before the stream is open.
    await expect.poll(tell).toBeGreaterThan(0)
    for (const socket of api.open) socket.destroy()
    // Changes made during an interruption are announced afterward.
    const before = told.length
    await expect.poll(listens).toBe(2)
    await expect.poll(() => told.length).toBeGreaterThan(before)
    expect(new Set(told)).toEqual(new Set(['notifications/tools/list_changed']))
    expect(upstream.state()).toEqual({ kind: 'connected' })
  })

  it('has one session in the session era, which ends with the connection', async () => {
    const api = await startOlder()
    const upstream = openUpstream(remote('http', urlOf(api)))
    await Promise.all(Array.from({ length: 10 }, () => callTool(upstream, 'echo')))
    expect(api.opened).toHaveLength(1)
    const told = new Promise(resolve => upstream.onNotification(({ method }) => resolve(method)))
    await callTool(upstream, 'grow')
    expect(await told).toBe('notifications/tools/list_changed')
    await upstream.close()
    expect(api.ended).toEqual(api.opened)
    await expect.poll(() => api.open.size).toBe(0)
  })

  it('gets a new session if it has forgotten the old one, and the call succeeds', async () => {
    const api = await startOlder()
    const upstream = openUpstream(remote('http', urlOf(api)))
    await callTool(upstream, 'echo')
    api.forget()
    expect(await callTool(upstream, 'echo')).toBe('from the older line')
    expect(api.opened).toHaveLength(2)
  })

  it('has its request aborted when a call is cancelled', async () => {
    const cut = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const api = await startByHand({
      initialize,
      'tools/call': response => {
        begun.resolve()
        response.on('close', () => cut.resolve())
      },
    })
    const upstream = openUpstream(remote('http', urlOf(api)))
    const stop = new AbortController()
    const call = faultOf(callTool(upstream, 'hang', {}, stop.signal))
    await begun.promise
    stop.abort()
    expect((await call).kind).toBe('aborted')
    await cut.promise
  })

  it('has its errors passed on unchanged', async () => {
    const api = await startByHand({
      initialize,
      'tools/call': (response, id) =>
        json(response, { jsonrpc: '2.0', id, error: { code: -32_602, message: 'no such tool', data: { a: 1 } } }),
    })
    const upstream = openUpstream(remote('http', urlOf(api)))
    const error: unknown = await callTool(upstream, 'x').catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ProtocolError)
    expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining('no such tool'), data: { a: 1 } })
  })

  it('is quoted if it responds to initialize with an error, without hidden characters', async () => {
    const api = await startByHand({
      initialize: (response, id) => {
        const message = `\u202ebad\u0007 ${'x'.repeat(1_000)}`
        json(response, { jsonrpc: '2.0', id, error: { code: -32_000, message } })
      },
    })
    const upstream = openUpstream(remote('http', urlOf(api)))
    const { kind, message } = await faultOf(upstream.get())
    expect([kind, message.length < 500]).toEqual(['protocol', true])
    expect(message).toMatch(/^Cannot connect to the MCP server: .*bad x+$/)
    expect(upstream.log().map(({ source, text }) => [source, text])).toEqual([['patchbay', message]])
  })

  it('fails calls in progress when the connection is closed', async () => {
    const api = await startOlder()
    const upstream = openUpstream(remote('http', urlOf(api)))
    await upstream.get()
    const hanging = faultOf(callTool(upstream, 'hang'))
    await callTool(upstream, 'echo')
    await upstream.close()
    expect((await hanging).kind).toBe('aborted')
  })

  it('has a broken response stream resumed', async () => {
    const resumed: unknown[] = []
    const api = await startApi((request, response) => {
      const send = (event: string): void =>
        void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event)
      if (request.method === 'GET') {
        const after = request.headers['last-event-id']
        if (after === undefined) return void response.writeHead(405).end()
        resumed.push(after)
        send(
          `id: 2\ndata: {"jsonrpc":"2.0","id":${calls.at(-1)},"result":{"content":[{"type":"text","text":"whole"}]}}\n\n`,
        )
        return void response.end()
      }
      const parts: Buffer[] = []
      request.on('data', part => parts.push(part))
      request.on('end', () => {
        const { id, method } = JSON.parse(Buffer.concat(parts).toString())
        if (method === 'initialize') return initialize(response, id)
        if (id === undefined) return void response.writeHead(202).end()
        if (method !== 'tools/call')
          return json(response, { jsonrpc: '2.0', id, error: { code: -32_601, message: '' } })
        calls.push(id)
        send('retry: 1\nid: 1\ndata:\n\n')
        response.end()
      })
    })
    const calls: unknown[] = []
    const upstream = openUpstream(remote('http', urlOf(api)))
    expect(await callTool(upstream, 'x')).toBe('whole')
    expect(resumed).toEqual(['1'])
  })
})

describe('an upstream over SSE', () => {
  it('fails calls in progress when it closes its stream, and the next call opens another', async () => {
    const port = await startEverything('sse')
    const proxy = await startProxy(port)
    const upstream = openUpstream(remote('sse', `http://127.0.0.1:${proxy.port}/sse`), {
      limits: { retryDelaysMs: [60_000] },
    })
    await callTool(upstream, 'echo', { message: 'a' })
    const lost = faultOf(callTool(upstream, 'trigger-long-running-operation', { duration: 60, steps: 1 }))
    await upstream.run(client => client.listTools())
    const failed = stateOf(upstream, ({ kind }) => kind === 'failed')
    for (const socket of proxy.open) socket.destroy()
    expect((await lost).kind).toBe('protocol')
    await failed
    expect(await callTool(upstream, 'echo', { message: 'again' })).toBe('Echo: again')
  })
})

/** Starts a proxy that forwards everything to a port, over sockets that a test can cut. */
const startProxy = (port: number): Promise<Api> =>
  listen(
    createServer(socket => {
      const other = connect(port, '127.0.0.1')
      socket.pipe(other).pipe(socket)
      for (const each of [socket, other]) each.on('error', () => {})
      socket.on('close', () => other.destroy())
      other.on('close', () => socket.destroy())
    }),
  )

const html: RequestListener = (_, response) =>
  void response.setHeader('content-type', 'text/html').end('<h1>Hello</h1>')
const missing: RequestListener = (_, response) => void response.writeHead(404).end('<h1>Not found</h1>')
const status =
  (code: number): RequestListener =>
  (_, response) =>
    void response.writeHead(code).end('no')

describe.each(['http', 'sse'] as const)('a URL for the transport %s', transport => {
  const fault = async (listener: RequestListener, options?: Parameters<typeof openUpstream>[1]) => {
    const api = await startApi(listener)
    const upstream = openUpstream(remote(transport, urlOf(api), { authorization: 'Bearer s3cr3t' }), options)
    const error = await faultOf(upstream.get())
    expect(error.message).not.toContain('s3cr3t')
    expect(upstream.state()).toMatchObject({ kind: 'failed', why: error.message, nextTryAt: expect.any(Date) })
    await upstream.close()
    await expect.poll(() => api.open.size).toBe(0)
    return error
  }

  it('is refused if its host is unknown', async () => {
    const { message } = await faultOf(openUpstream(remote(transport, 'http://nowhere.test/mcp')).get())
    expect(message).toContain('The name nowhere.test does not resolve')
  })

  it('is reported as not MCP if it returns HTML', async () => {
    expect((await fault(html)).kind).toBe('not_mcp')
    expect((await fault(missing)).message).toContain('HTTP 404')
  })

  it('is reported as requiring authorization', async () => {
    expect((await fault(status(401))).kind).toBe('unauthorized')
    expect((await fault(status(403))).kind).toBe('unauthorized')
  })

  it('is reported as not MCP if it does not speak HTTP', async () => {
    const api = await startRawApi(socket => socket.end('SSH-2.0-OpenSSH_9.9\r\n'))
    expect((await faultOf(openUpstream(remote(transport, urlOf(api))).get())).kind).toBe('not_mcp')
  })
})

it('an upstream whose JSON is not JSON-RPC is reported as not MCP', async () => {
  const api = await startApi((_, response) => json(response, { hello: 'world' }))
  expect((await faultOf(openUpstream(remote('http', urlOf(api))).get())).kind).toBe('not_mcp')
})
