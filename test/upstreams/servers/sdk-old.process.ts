/** A stdio server built with the older generation of the SDK. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'

const server = new McpServer({ name: 'old', version: '1' }, { capabilities: { tools: { listChanged: true } } })
server.registerTool('echo', {}, () => ({ content: [{ type: 'text', text: 'from the older line' }] }))
server.registerTool('grow', {}, () => {
  server.registerTool('grown', {}, () => ({ content: [] }))
  return { content: [{ type: 'text', text: 'grown' }] }
})
await server.connect(new StdioServerTransport())
