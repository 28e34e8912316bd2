/** A stdio server with a tool that reports how it was started. */
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const NONE = fromJsonSchema<Record<string, never>>({ type: 'object' })

serveStdio(() => {
  const server = new McpServer({ name: 'reporter', version: '1' }, { capabilities: { tools: { listChanged: true } } })
  server.registerTool('report', { inputSchema: NONE }, () => {
    const { REPORTED = null, REPORTED_TOKEN = null } = process.env
    const report = { args: process.argv.slice(2), REPORTED, REPORTED_TOKEN, pid: process.pid }
    return { content: [{ type: 'text', text: JSON.stringify(report) }] }
  })
  return server
})
