import { createMCPClient } from '@ai-sdk/mcp'

export const use = async ({ url, headers }) => {
  const client = await createMCPClient({ transport: { type: 'http', url, headers } })
  const tools = await client.tools()
  const { content } = await tools.get_user.execute({ id: '42' }, { toolCallId: '1', messages: [] })
  await client.close()
  return { tools: Object.keys(tools), text: content[0].text }
}
