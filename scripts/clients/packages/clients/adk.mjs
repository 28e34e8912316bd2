import { MCPToolset } from '@google/adk'

export const use = async ({ url, headers }) => {
  const toolset = new MCPToolset({ type: 'StreamableHTTPConnectionParams', url, header: headers })
  const tools = await toolset.getTools()
  const result = await tools.find(({ name }) => name === 'get_user').runAsync({ args: { id: '42' }, toolContext: {} })
  await toolset.close()
  return { tools: tools.map(({ name }) => name), text: JSON.stringify(result) }
}
