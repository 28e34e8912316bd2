import { MultiServerMCPClient } from '@langchain/mcp-adapters'

export const use = async ({ url, headers }) => {
  const client = new MultiServerMCPClient({ mcpServers: { patchbay: { transport: 'http', url, headers } } })
  const tools = await client.getTools()
  const text = await tools.find(({ name }) => name === 'get_user').invoke({ id: '42' })
  await client.close()
  return { tools: tools.map(({ name }) => name), text: String(text) }
}
