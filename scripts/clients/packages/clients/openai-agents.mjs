import { MCPServerStreamableHttp } from '@openai/agents'

export const use = async ({ url, headers }) => {
  const server = new MCPServerStreamableHttp({ url, name: 'patchbay', requestInit: { headers } })
  await server.connect()
  const tools = await server.listTools()
  const content = await server.callTool('get_user', { id: '42' })
  await server.close()
  return { tools: tools.map(({ name }) => name), text: content[0].text }
}
