import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { McpServer as OlderServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { startApi } from '../lib/outbound/apis.ts'

const NONE = fromJsonSchema<Record<string, never>>({ type: 'object' })
const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })

/**
 * Starts an HTTP server that sends requests, notifications and delayed responses. It uses the older SDK generation,
 * with sessions, at `/old` and the newest, without sessions, at `/new`.
 */
export const startTalkingServer = async () => {
  const waiting = Promise.withResolvers<void>()
  const cancelled = Promise.withResolvers<void>()
  const wait = async (signal: AbortSignal) => {
    const aborted = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
    waiting.resolve()
    await aborted
    cancelled.resolve()
    return text('too late')
  }

  const buildOlder = (): OlderServer => {
    const server = new OlderServer({ name: 'talking', version: '1' }, { capabilities: { logging: {}, tools: {} } })
    server.registerTool('ask', {}, async ({ _meta: meta, sendNotification }) => {
      const progressToken = meta?.progressToken ?? 0
      await sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress: 1, total: 2 },
      })
      await sendNotification({ method: 'notifications/message', params: { level: 'info', data: 'asking' } })
      const { content } = await server.server.elicitInput({
        message: 'What?',
        requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } },
      })
      return text(String(content?.answer))
    })
    server.registerTool('wait', {}, ({ signal }) => wait(signal))
    return server
  }

  const buildNewer = (): McpServer => {
    const server = new McpServer({ name: 'talking', version: '2' })
    server.registerTool('wait', { inputSchema: NONE }, (_args, { mcpReq }) => wait(mcpReq.signal))
    return server
  }

  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const serveOlder = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const known = sessions.get(String(request.headers['mcp-session-id']))
    if (known !== undefined) return known.handleRequest(request, response)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: id => void sessions.set(id, transport),
    })
    await buildOlder().connect(transport)
    await transport.handleRequest(request, response)
  }
  const newer = toNodeHandler(createMcpHandler(buildNewer, { legacy: 'reject' }))
  const { port } = await startApi((request, response) => {
    if (request.url === '/old') void serveOlder(request, response)
    else if (request.method !== undefined && request.url !== undefined) {
      void newer(Object.assign(request, { method: request.method, url: request.url }), response)
    }
  })
  return {
    olderUrl: `http://127.0.0.1:${port}/old`,
    newerUrl: `http://127.0.0.1:${port}/new`,
    waiting: () => waiting.promise,
    cancelled: () => cancelled.promise,
  }
}
