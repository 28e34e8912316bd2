import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { localhostHostValidation, toNodeHandler } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  type EventStore,
  isLegacyRequest,
  type JSONRPCMessage,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { portOf } from '../wire.ts'
import { addEverything, type ReferenceState, verifyState } from './reference-tools.ts'

/** Keeps the events of all streams, so that clients can resume them. */
const createEventStore = (): EventStore => {
  const events: { id: string; streamId: string; message: JSONRPCMessage }[] = []
  const find = (id: string) => events.findIndex(event => event.id === id)
  return {
    storeEvent: async (streamId, message) => {
      const id = `${streamId}-${events.length}`
      events.push({ id, streamId, message })
      return id
    },
    getStreamIdForEventId: async id => events[find(id)]?.streamId,
    replayEventsAfter: async (last, { send }) => {
      const streamId = events[find(last)]?.streamId ?? ''
      for (const event of events.slice(find(last) + 1)) {
        // The first event of a stream has no message.
        if (event.streamId === streamId && 'jsonrpc' in event.message) await send(event.id, event.message)
      }
      return streamId
    },
  }
}

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  logging: {},
  completions: {},
}

/**
 * Serves everything that the official suite asks for with the official SDK, in both eras, as its documentation
 * recommends: the handler of the stateless era, and a transport for each session.
 */
export const startReferenceServer = async (names: ReferenceState['names']) => {
  const state: ReferenceState = {
    names,
    added: { tools: 0, prompts: 0 },
    onToolsChanged: () => stateless.notify.toolsChanged(),
    onPromptsChanged: () => stateless.notify.promptsChanged(),
  }
  const build = (): McpServer => {
    const options = { capabilities: CAPABILITIES, requestState: { verify: verifyState } }
    const server = new McpServer({ name: 'reference', version: '1' }, options)
    addEverything(server, state)
    return server
  }
  const stateless = createMcpHandler(build, { legacy: 'reject' })
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()

  const openSession = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: createEventStore(),
      retryInterval: 100,
      onsessioninitialized: id => void sessions.set(id, transport),
      onsessionclosed: id => void sessions.delete(id),
    })
    await build().connect(transport)
    return transport
  }
  const serve = async (request: Request): Promise<Response> => {
    if (!(await isLegacyRequest(request))) return stateless.fetch(request)
    const id = request.headers.get('mcp-session-id')
    const known = id === null ? undefined : sessions.get(id)
    if (id !== null && known === undefined) {
      const error = { code: -32_001, message: 'Session not found' }
      return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 404 })
    }
    return (known ?? (await openSession())).handleRequest(request)
  }

  const handle = toNodeHandler({ fetch: serve })
  const isAllowed = localhostHostValidation()
  const listener = createServer((request, response) => {
    const { method, url } = request
    if (method === undefined || url === undefined || !isAllowed(request, response)) return
    void handle(Object.assign(request, { method, url }), response)
  })
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${portOf(listener)}/mcp`,
    close: async () => {
      for (const transport of sessions.values()) await transport.close()
      listener.closeAllConnections()
      await new Promise(resolve => listener.close(resolve))
    },
  }
}
