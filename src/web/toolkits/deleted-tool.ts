import { z } from 'zod'
import type { Sealing } from '../../lib/process/sealing.ts'
import { parseDocument, toStored } from '../../tools/stored-definition.ts'
import type { Tool } from '../../tools/tool.ts'
import type { DeletedTool } from '../../tools/tools.service.ts'
import { createUndo } from '../frame/undo.ts'

/** A deleted tool as JSON. */
const Deleted = z.object({
  id: z.string(),
  createdAt: z.string(),
  stored: z.object({
    name: z.string(),
    title: z.string().nullable(),
    description: z.string().nullable(),
    definition: z.json(),
  }),
})
type Deleted = z.infer<typeof Deleted>

/** Returns what is needed to create a tool again. */
export const toDeletedTool = (tool: Tool): Deleted => ({
  id: tool.id,
  createdAt: tool.createdAt.toISOString(),
  stored: toStored(tool),
})

export const fromDeletedTool = ({ id, createdAt, stored }: Deleted): DeletedTool => ({
  id,
  createdAt: new Date(createdAt),
  definition: {
    ...parseDocument(stored.definition),
    name: stored.name,
    title: stored.title ?? undefined,
    description: stored.description ?? undefined,
  },
})

/** Keeps the tools that a user deleted from a toolkit. */
export const createDeletedToolUndo = (sealing: Sealing) => createUndo(sealing, 'deletion of tools', z.array(Deleted))
