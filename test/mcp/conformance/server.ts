import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { makeServer, makeTool, startTestApp, text } from '../support.ts'
import { portOf } from '../wire.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='
const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const
const audio = { type: 'audio', data: WAV, mimeType: 'audio/wav' } as const
const resource = {
  type: 'resource',
  resource: {
    uri: 'test://embedded-resource',
    mimeType: 'text/plain',
    blob: 'VGhpcyBpcyBhbiBlbWJlZGRlZCByZXNvdXJjZS4=',
  },
} as const
const SCHEMA = JSON.parse(readFileSync(join(import.meta.dirname, 'json-schema-2020-12.json'), 'utf8'))

/** The suite uses the origin of the URL it calls, so the port must be known before the server listens. */
const findFreePort = async (): Promise<number> => {
  const listener = createServer()
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve))
  const port = portOf(listener)
  await new Promise(resolve => listener.close(resolve))
  return port
}

/** The tools that the official suite calls by name, on a local server. */
export const startConformanceServer = async () => {
  const { promise: ready, resolve: isReady } = Promise.withResolvers<() => Promise<void>>()
  const change = async () => {
    await (await ready)()
    return text('changed')
  }
  const server = makeServer({
    tools: [
      makeTool('test_simple_text', { call: async () => text('This is a simple text response for testing.') }),
      makeTool('test_image_content', { call: async () => ({ content: [image] }) }),
      makeTool('test_audio_content', { call: async () => ({ content: [audio] }) }),
      makeTool('test_embedded_resource', { call: async () => ({ content: [resource] }) }),
      makeTool('test_multiple_content_types', {
        call: async () => ({ content: [...text('Multiple content types test:').content, image, resource] }),
      }),
      makeTool('test_error_handling', {
        call: async () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }),
      }),
      makeTool('test_streaming_elicitation'),
      makeTool('test_logging_tool'),
      makeTool('test_trigger_tool_change', { call: change }),
      makeTool('json_schema_2020_12_tool', { inputSchema: SCHEMA }),
      makeTool('test_custom_headers', {
        inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
      }),
    ],
  })
  const port = await findFreePort()
  const app = await startTestApp({ servers: [server], port, allowedOrigins: [`http://localhost:${port}`] })
  let changes = 0
  isReady(async () => {
    changes += 1
    app.servers.set(server.id, { ...server, tools: [...server.tools, makeTool(`tool_of_change_${changes}`)] })
    await app.registry.refresh(server.id)
  })
  return { app, url: app.urlOf(server.id) }
}
