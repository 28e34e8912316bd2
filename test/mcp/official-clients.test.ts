import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
  SSEClientTransport as Sse2,
} from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport as Sse1 } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeServer, makeTool, OWNER_TOKEN, startTestApp, type TestApp, text } from './support.ts'

/** The features that the tests use and that clients of both SDK generations share. */
type AnyClient = {
  listTools: () => Promise<{ tools: { name: string }[] }>
  callTool: (
    params: { name: string; arguments?: Record<string, unknown> },
    options?: { signal?: AbortSignal; onprogress?: (progress: { progress: number }) => void },
  ) => Promise<{ content: unknown; isError?: boolean | undefined }>
  close: () => Promise<void>
  era: () => string | undefined
}

type Connect = (url: URL, onToolsChanged: (names: string[]) => void) => Promise<AnyClient>

const INFO = { name: 'official', version: '2.4.0' }
const requestInit = { headers: { authorization: OWNER_TOKEN } }

const overHttp2 = (url: URL): Http2 | Sse2 => new Http2(url, { requestInit })
const overSse2 = (url: URL): Http2 | Sse2 => new Sse2(new URL(`${url}/sse`), { requestInit })

const second =
  (options: ConstructorParameters<typeof Client2>[1] = {}, transportOf = overHttp2): Connect =>
  async (url, onToolsChanged) => {
    const client = new Client2(INFO, {
      ...options,
      listChanged: {
        tools: { onChanged: (_error, tools) => onToolsChanged((tools ?? []).map(tool => tool.name)), debounceMs: 0 },
      },
    })
    await client.connect(transportOf(url))
    return {
      listTools: () => client.listTools(),
      callTool: (params, options) => client.callTool(params, options),
      close: () => client.close(),
      era: () => client.getNegotiatedProtocolVersion(),
    }
  }

const first =
  (transportOf: (url: URL) => Http1 | Sse1): Connect =>
  async (url, onToolsChanged) => {
    const client = new Client1(INFO)
    client.setNotificationHandler(ToolListChangedNotificationSchema, async () => {
      const { tools } = await client.listTools()
      onToolsChanged(tools.map(tool => tool.name))
    })
    const transport = transportOf(url)
    await client.connect(transport)
    return {
      listTools: () => client.listTools(),
      callTool: async (params, options) => {
        const { content, isError } = await client.callTool(params, undefined, options)
        return { content, ...(typeof isError === 'boolean' ? { isError } : {}) }
      },
      close: () => client.close(),
      era: () => (transport instanceof Http1 ? transport.protocolVersion : undefined),
    }
  }

/**
 * `isShown`: whether to run the progress test, which waits a second for the notification. One client for each transport
 * and era is enough.
 */
const CLIENTS: { name: string; connect: Connect; era?: string; isShown?: boolean }[] = [
  { name: 'SDK 2, auto', connect: second({ versionNegotiation: { mode: 'auto' } }), era: '2026-07-28', isShown: true },
  {
    name: 'SDK 2, pinned',
    connect: second({ versionNegotiation: { mode: { pin: '2026-07-28' } } }),
    era: '2026-07-28',
  },
  { name: 'SDK 2, default', connect: second(), era: '2025-11-25', isShown: true },
  ...['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'].map(version => ({
    name: `SDK 2 at ${version}`,
    connect: second({ supportedProtocolVersions: [version] }),
    era: version,
  })),
  { name: 'SDK 2 over SSE', connect: second({}, overSse2), era: '2025-11-25', isShown: true },
  {
    name: 'SDK 1 over Streamable HTTP',
    connect: first(url => new Http1(url, { requestInit })),
    era: '2025-11-25',
    isShown: true,
  },
  { name: 'SDK 1 over SSE', connect: first(url => new Sse1(new URL(`${url}/sse`), { requestInit })) },
]

/** Creates a tool that runs until it is aborted or released. */
const makeSlowTool = () => {
  const started = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const tool = makeTool('slow', {
    call: async (_args, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve())
      started.resolve()
      await Promise.race([release.promise, aborted.promise])
      return text('done')
    },
  })
  return { tool, started: started.promise, aborted: aborted.promise, release: release.resolve }
}

describe.each(CLIENTS)('the official client: $name', ({ connect, era, isShown }) => {
  const slow = { current: makeSlowTool() }
  let server = makeServer()
  let app: TestApp
  let client: AnyClient
  let hasChanged = Promise.withResolvers<string[]>()

  beforeEach(async () => {
    slow.current = makeSlowTool()
    server = makeServer({
      tier: 'private',
      tools: [
        makeTool('echo'),
        makeTool('fail', { call: async () => ({ ...text('no luck'), isError: true }) }),
        makeTool('who', { call: async (_args, { client: name, caller }) => text(`${name} of ${caller?.userId}`) }),
        slow.current.tool,
      ],
    })
    app = await startTestApp({ servers: [server] })
    hasChanged = Promise.withResolvers()
    client = await connect(new URL(app.urlOf(server.id)), names => hasChanged.resolve(names))
  })
  afterEach(async () => {
    await client.close()
    await app.close()
  })

  it('connects, lists tools and calls one', async () => {
    if (era !== undefined) expect(client.era()).toBe(era)
    const { tools } = await client.listTools()
    expect(tools.map(tool => tool.name)).toEqual(['echo', 'fail', 'slow', 'who'])
    const echoed = await client.callTool({ name: 'echo', arguments: { text: 'häl\n"lo" \ud83d' } })
    expect(echoed.content).toEqual([{ type: 'text', text: JSON.stringify({ text: 'häl\n"lo" \ud83d' }) }])
    expect(await client.callTool({ name: 'fail' })).toMatchObject({ isError: true })
    expect(await client.callTool({ name: 'who' })).toMatchObject({ content: [{ text: 'official/2.4.0 of owner' }] })
    await expect(client.callTool({ name: 'nothing' })).rejects.toMatchObject({ code: -32602 })
  })

  it('is notified when the tools change', async () => {
    await client.listTools()
    // The notification stream opens after the handshake, and must be open before anything is sent.
    await expect.poll(() => app.registry.openStreams(server.id)).toBeGreaterThan(0)
    app.servers.set(server.id, { ...server, tools: [...server.tools, makeTool('young')] })
    await app.registry.refresh(server.id)
    expect(await hasChanged.promise).toContain('young')
    expect((await client.listTools()).tools.map(tool => tool.name)).toContain('young')
  })

  it('cancels a call, which aborts the tool', async () => {
    const controller = new AbortController()
    const call = client.callTool({ name: 'slow' }, { signal: controller.signal })
    const refused = expect(call).rejects.toThrow()
    await slow.current.started
    controller.abort()
    await refused
    await slow.current.aborted
  })

  const hearsOfProgress = async () => {
    const steps: number[] = []
    const onprogress = ({ progress }: { progress: number }) => {
      steps.push(progress)
      slow.current.release()
    }
    const done = await client.callTool({ name: 'slow' }, { onprogress })
    expect(done.content).toEqual([{ type: 'text', text: 'done' }])
    expect(steps).toEqual([1])
  }
  if (isShown === true) it('is notified of the progress of a slow call', hearsOfProgress)
})
