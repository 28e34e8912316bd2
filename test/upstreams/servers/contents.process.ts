/**
 * Runs servers that return every kind of content (`contents.ts`), built with both SDK generations. The first argument
 * selects `old` or `new` over stdio, or both over HTTP, at `/old` and `/new` on the port that is printed.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { McpServer as OlderServer, ResourceTemplate as OlderTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createMcpHandler, McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
import { BLOB, CONTENT, MEMO, MESSAGES, META, STRUCTURED } from './contents.ts'

const outputSchema = z.looseObject({ temperature: z.number() })
const argsSchema = { topic: z.string() }
const everything = () => ({ content: CONTENT, structuredContent: STRUCTURED, _meta: META })
const failing = () => ({ content: [{ type: 'text' as const, text: 'it failed' }], isError: true })
const echo = ({ text }: { text: string }) => ({ content: [{ type: 'text' as const, text }] })
const readMemo = () => ({ contents: [MEMO] })
const readBlob = () => ({ contents: [BLOB] })
const readAny = (uri: URL) => ({ contents: [{ uri: uri.href, text: `of ${uri.href}` }] })
const prompt = ({ topic }: { topic: string }) => ({ description: `About ${topic}`, messages: MESSAGES })

const buildOlder = (): OlderServer => {
  const server = new OlderServer({ name: 'old', version: '1' })
  server.registerTool('everything', { title: 'Everything', outputSchema }, everything)
  server.registerTool('failing', {}, failing)
  server.registerTool('echo', { inputSchema: { text: z.string() } }, echo)
  server.registerResource('memo', MEMO.uri, { mimeType: MEMO.mimeType, title: 'A memo' }, readMemo)
  server.registerResource('blob', BLOB.uri, {}, readBlob)
  server.registerResource('any', new OlderTemplate('memo://of/{id}', { list: undefined }), {}, readAny)
  server.registerPrompt('about', { argsSchema }, prompt)
  return server
}

const buildNewer = (): McpServer => {
  const server = new McpServer({ name: 'new', version: '2' })
  server.registerTool('everything', { title: 'Everything', outputSchema }, everything)
  server.registerTool('failing', {}, failing)
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, echo)
  server.registerResource('memo', MEMO.uri, { mimeType: MEMO.mimeType, title: 'A memo' }, readMemo)
  server.registerResource('blob', BLOB.uri, {}, readBlob)
  server.registerResource('any', new ResourceTemplate('memo://of/{id}', { list: undefined }), {}, readAny)
  server.registerPrompt('about', { argsSchema: z.object(argsSchema) }, prompt)
  return server
}

const serveHttp = (): void => {
  const newer = toNodeHandler(createMcpHandler(buildNewer, { legacy: 'reject' }))
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const handleOlder = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const known = sessions.get(String(request.headers['mcp-session-id']))
    if (known !== undefined) return known.handleRequest(request, response)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: id => void sessions.set(id, transport),
    })
    await buildOlder().connect(transport)
    await transport.handleRequest(request, response)
  }
  const server = createServer((request, response) => {
    if (request.url === '/old') void handleOlder(request, response)
    else if (request.method !== undefined && request.url !== undefined) {
      void newer(Object.assign(request, { method: request.method, url: request.url }), response)
    }
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address !== null && typeof address === 'object') process.stdout.write(`${address.port}\n`)
  })
}

switch (process.argv[2]) {
  case 'old':
    await buildOlder().connect(new StdioServerTransport())
    break
  case 'new':
    serveStdio(buildNewer)
    break
  default:
    serveHttp()
}
