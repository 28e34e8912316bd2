import { z } from 'zod'
import type { Sealing } from '../../lib/process/sealing.ts'
import { toBindingFields, toBindings } from '../../servers/bindings/bindings.ts'
import type { Instance } from '../../servers/server.ts'
import type { RemovedInstance } from '../../servers/tools/instances.service.ts'
import { createUndo } from '../frame/undo.ts'

/** A removed tool of a server as JSON. */
const RemovedTool = z.object({
  id: z.string(),
  toolId: z.string(),
  name: z.string(),
  description: z.string().optional(),
  maxResponseTokens: z.int().optional(),
  // A cookie of a version before has no such field.
  isEnabled: z.boolean().default(true),
  createdAt: z.string(),
  bindings: z.record(
    z.string(),
    z.object({ source: z.enum(['instance', 'server', 'exposed']), value: z.json().optional() }),
  ),
})
type RemovedTool = z.infer<typeof RemovedTool>

/** Returns what is needed to add a tool again. */
export const toRemovedTool = ({ tool, bindings, createdAt, ...instance }: Instance): RemovedTool => ({
  id: instance.id,
  toolId: tool.id,
  name: instance.name,
  description: instance.description,
  maxResponseTokens: instance.maxResponseTokens,
  isEnabled: instance.isEnabled,
  createdAt: createdAt.toISOString(),
  bindings: Object.fromEntries(Object.entries(bindings).map(([name, binding]) => [name, toBindingFields(binding)])),
})

export const toRemovedInstance = ({ createdAt, bindings, ...rest }: RemovedTool): RemovedInstance => ({
  ...rest,
  description: rest.description,
  maxResponseTokens: rest.maxResponseTokens,
  createdAt: new Date(createdAt),
  bindings: toBindings(bindings),
})

/** Keeps the tools that a user removed from a server. */
export const createToolUndo = (sealing: Sealing) => createUndo(sealing, 'removal of tools', z.array(RemovedTool))
