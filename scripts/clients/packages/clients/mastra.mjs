import { MCPClient } from '@mastra/mcp'

const PREFIX = 'patchbay_'

export const use = async ({ url, headers }) => {
  const client = new MCPClient({ servers: { patchbay: { url: new URL(url), requestInit: { headers } } } })
  const tools = await client.listTools()
  const result = await tools[`${PREFIX}get_user`].execute({ id: '42' })
  await client.disconnect()
  return { tools: Object.keys(tools).map(name => name.slice(PREFIX.length)), text: JSON.stringify(result) }
}
