/** A stdio server built with the newest SDK, for both eras. */
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const TEXT = fromJsonSchema<{ text?: string }>({ type: 'object', properties: { text: { type: 'string' } } })

serveStdio(() => {
  const server = new McpServer({ name: 'new', version: '2' }, { capabilities: { tools: { listChanged: true } } })
  server.registerTool('echo', { inputSchema: TEXT }, ({ text = '' }) => ({ content: [{ type: 'text', text }] }))
  server.registerTool('grow', { inputSchema: TEXT }, () => {
    server.registerTool('grown', { inputSchema: TEXT }, () => ({ content: [] }))
    return { content: [{ type: 'text', text: 'grown' }] }
  })
  return server
})
