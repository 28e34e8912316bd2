import { createMcpClient } from '@genkit-ai/mcp'
import { genkit } from 'genkit'

export const use = async ({ url, headers }) => {
  const ai = genkit({})
  const client = createMcpClient({ name: 'patchbay', mcpServer: { url, requestInit: { headers } } })
  await client.ready()
  const tools = await client.getActiveTools(ai)
  const nameOf = tool => tool.__action.name.split('/').at(-1)
  const result = await tools.find(tool => nameOf(tool) === 'get_user')({ id: '42' })
  await client.disable()
  return { tools: tools.map(nameOf), text: JSON.stringify(result) }
}
