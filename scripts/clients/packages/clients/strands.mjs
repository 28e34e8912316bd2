import { McpClient } from '@strands-agents/sdk'
import { StreamableHTTPClientTransport } from 'sdk-1.24/client/streamableHttp.js'

export const use = async ({ url, headers }) => {
  const client = new McpClient({
    transport: new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  })
  const tools = await client.listTools()
  const tool = tools.find(({ name }) => name === 'get_user')
  const result = await client.callTool(tool, { id: '42' })
  await client.disconnect()
  return { tools: tools.map(({ name }) => name), text: JSON.stringify(result) }
}
