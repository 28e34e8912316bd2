import { MCPConfiguration } from '@voltagent/core'

const PREFIX = 'patchbay_'

export const use = async ({ url, headers }) => {
  const configuration = new MCPConfiguration({
    servers: { patchbay: { type: 'streamable-http', url, requestInit: { headers } } },
  })
  const tools = await configuration.getTools()
  const result = await tools.find(({ name }) => name === `${PREFIX}get_user`).execute({ id: '42' })
  await configuration.disconnect()
  return { tools: tools.map(({ name }) => name.slice(PREFIX.length)), text: JSON.stringify(result) }
}
