import type { Actor } from '../../lib/kernel/actor.ts'
import type { SampleService } from '../../servers/samples/samples.service.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import type { InstanceService } from '../../servers/tools/instances.service.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import type { ToolkitService } from '../../tools/toolkits.service.ts'
import type { ToolService } from '../../tools/tools.service.ts'

/** Dependencies of `createSampleServer`. */
export type SampleParts = {
  /** The sample API. The composition root passes it in, because pages must not import it. */
  sample: { title: string; tools: readonly ToolDefinition[] }
  toolkits: Pick<ToolkitService, 'createToolkit'>
  tools: Pick<ToolService, 'createTool'>
  servers: Pick<ServerService, 'createServer'>
  samples: Pick<SampleService, 'noteSample'>
  instances: Pick<InstanceService, 'createInstance'>
}

/** Creates a toolkit for the sample API and a public server that offers its tools. Returns the server's ID. */
export const createSampleServer = async (
  { sample, samples, toolkits, tools, servers, instances }: SampleParts,
  actor: Actor,
  organizationId: string,
): Promise<string> => {
  const toolkit = await toolkits.createToolkit(actor, {
    title: sample.title,
    description: 'A currency converter, an address book and an echo that run inside Patchbay.',
    visibility: 'private',
    organizationId,
  })
  const server = await servers.createServer(actor, {
    name: 'Sample desk',
    description: 'Sample API tools for trying out Patchbay.',
    access: 'public',
    presentation: 'flat',
    allowedUsers: [],
    organizationId,
  })
  await samples.noteSample(actor, server.id, toolkit.id)
  for (const definition of sample.tools) {
    const tool = await tools.createTool(actor, toolkit.id, definition)
    await instances.createInstance(actor, server.id, { toolId: tool.id, name: definition.name, bindings: {} })
  }
  return server.id
}
