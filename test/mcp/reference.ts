import { randomUUID } from 'node:crypto'
import http from 'node:http'
import {
  createMcpHandler,
  fromJsonSchema,
  isLegacyRequest,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import type { CompiledServer } from '../../src/runtime/call/compiled-server.ts'
import { isLongText, isPassed, isRefused } from '../../src/runtime/call/tool-result.ts'
import { portOf } from './wire.ts'

const buildServer = ({ name, tools }: CompiledServer): McpServer => {
  const server = new McpServer(
    { name: 'patchbay', version: '0.1.0', title: name },
    { capabilities: { tools: { listChanged: true }, resources: {}, prompts: {}, logging: {} } },
  )
  for (const tool of tools) {
    const { description, annotations } = tool
    server.registerTool(
      tool.name,
      {
        ...(description === undefined ? {} : { description }),
        ...(annotations === undefined ? {} : { annotations }),
        inputSchema: fromJsonSchema<JsonObject>(tool.inputSchema),
      },
      async (args, { mcpReq }) => {
        const context = { caller: undefined, client: undefined, signal: mcpReq.signal }
        const { result } = await tool.call(args, context)
        if (isRefused(result) || isPassed(result)) throw new Error('the tools of the reference are none of an upstream')
        if (isLongText(result)) return { content: [{ type: 'text', text: result.utf8.toString() }] }
        const { content, isError } = result
        return { content, ...(isError === undefined ? {} : { isError }) }
      },
    )
  }
  return server
}

const readBytes = async (request: http.IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const toRequest = async (incoming: http.IncomingMessage): Promise<Request> => {
  const method = incoming.method ?? 'GET'
  const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values]) =>
    (values ?? []).map((value): [string, string] => [name, value]),
  )
  const body = method === 'POST' ? new Uint8Array(await readBytes(incoming)) : null
  return new Request(`http://localhost${incoming.url}`, { method, headers, body })
}

const notFound = () =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } }, { status: 404 })

/**
 * Serves the same tools with the official SDK in both eras, as its documentation recommends: the strict handler for the
 * stateless era, and a transport per session for the other. Our responses are compared with its own.
 */
export const startReference = async (server: CompiledServer) => {
  const stateless = createMcpHandler(() => buildServer(server), { legacy: 'reject' })
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()

  const openSession = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: id => void sessions.set(id, transport),
      onsessionclosed: id => void sessions.delete(id),
    })
    await buildServer(server).connect(transport)
    return transport
  }
  const serve = async (request: Request): Promise<Response> => {
    if (!(await isLegacyRequest(request))) return stateless.fetch(request)
    const id = request.headers.get('mcp-session-id')
    const known = id === null ? undefined : sessions.get(id)
    if (id !== null && known === undefined) return notFound()
    return (known ?? (await openSession())).handleRequest(request)
  }

  const listener = http.createServer((incoming, outgoing) => {
    const answer = async (): Promise<void> => {
      const response = await serve(await toRequest(incoming))
      outgoing.writeHead(response.status, [...response.headers].flat())
      outgoing.end(Buffer.from(await response.arrayBuffer()))
    }
    answer().catch(error => outgoing.destroy(error))
  })
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve))
  return {
    port: portOf(listener),
    close: async () => {
      for (const transport of sessions.values()) await transport.close()
      listener.closeAllConnections()
      await new Promise(resolve => listener.close(resolve))
    },
  }
}
