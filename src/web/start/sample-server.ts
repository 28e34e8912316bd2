import type { Actor } from '../kernel/index.ts'
import type { InstanceService, ServerService } from '../servers/index.ts'
import type { ToolDefinition, ToolkitService, ToolService } from '../toolkits/index.ts'

/** What the sample is made of, and by whom. */
export type SampleParts = {
  /** Given by who composes the application: pages do not know the sample API. */
  sample: { title: string; tools: readonly ToolDefinition[] }
  toolkits: Pick<ToolkitService, 'createToolkit'>
  tools: Pick<ToolService, 'createTool'>
  servers: Pick<ServerService, 'createServer'>
  instances: Pick<InstanceService, 'createInstance'>
}

/** A toolkit of the sample API, and a public server that offers its tools: it holds nothing of anybody's. */
export const createSampleServer = async (
  { sample, toolkits, tools, servers, instances }: SampleParts,
  actor: Actor,
  organizationId: string,
): Promise<string> => {
  const toolkit = await toolkits.createToolkit(actor, {
    title: sample.title,
    description: 'A currency table, an address book and an echo, answered inside Patchbay.',
    visibility: 'private',
    organizationId,
  })
  const server = await servers.createServer(actor, {
    name: 'Sample desk',
    description: 'Tools of the sample API, to try things out.',
    access: 'public',
    presentation: 'flat',
    allowedUsers: [],
    organizationId,
  })
  for (const definition of sample.tools) {
    const tool = await tools.createTool(actor, toolkit.id, definition)
    await instances.createInstance(actor, server.id, { toolId: tool.id, name: definition.name, bindings: {} })
  }
  return server.id
}
