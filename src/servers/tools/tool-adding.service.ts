import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { defaultBindingsOf } from '../bindings/default-bindings.ts'
import { createTakenKeys } from '../bindings/taken-keys.ts'
import { listGlobals } from '../globals/globals.store.ts'
import { getServerFor, type ServerServiceParts } from '../servers.service.ts'
import { addInstances, createInstanceNames, type InstanceDraft } from './instance-batch.ts'
import { assertRoomForTools, takeTool } from './instances.service.ts'
import { countInstances } from './instances.store.ts'
import * as store from './tool-picks.store.ts'

export type ToolOffer = {
  toolkits: readonly store.OfferedToolkit[]
  tools: readonly store.OfferedTool[]
  total: number
}

/** `atWork` is the number of the tool's instances when the form was opened. If undefined, the tool is always added. */
export type ToolPick = { toolId: string; atWork?: number | undefined }

const getPicked = (picked: ReadonlyMap<string, store.PickedTool>, toolId: string): store.PickedTool =>
  orThrow(picked.get(toolId), () => new Error(`the tool ${toolId} is gone`))

export const createToolAdding = ({
  db,
  changes,
  sealing,
  maxToolsPerServer,
}: ServerServiceParts & { sealing: Sealing; maxToolsPerServer: number }) => ({
  /** Lists the tools that can be added to a server, or only those of one toolkit if `toolkitId` is set. */
  listOffer: async (
    actor: Actor,
    serverId: string,
    { toolkitId, ...page }: { toolkitId: string | undefined; search: string; skip: number; take: number },
  ): Promise<ToolOffer> => {
    const server = await getServerFor(db, actor, serverId, 'build')
    const toolkits = await store.listOfferedToolkits(db, server)
    const ids = toolkits.map(({ id }) => id).filter(id => toolkitId === undefined || id === toolkitId)
    return { toolkits, ...(await store.listOfferedTools(db, serverId, { toolkitIds: ids, ...page })) }
  },

  /**
   * Adds several tools with their default bindings, all or none. A secret whose key is taken gets another key. Appends a
   * number to names that are taken. Adds toolkits of the organization. Skips a tool with more instances than `atWork`,
   * because the same form has already added it. Returns the new names.
   */
  addTools: (actor: Actor, serverId: string, picks: readonly ToolPick[]): Promise<string[]> =>
    changes.commit(async (tx, announce) => {
      const server = await getServerFor(tx, actor, serverId, 'build')
      if (picks.length === 0) {
        const errors = [{ path: 'tool', message: 'is not selected' }]
        throw new AppError('invalid_request', 'Select at least one tool.', { errors })
      }
      const ids: string[] = []
      for (const { toolId, atWork } of new Map(picks.map(pick => [pick.toolId, pick])).values()) {
        const id = await takeTool(tx, server, toolId)
        if (atWork === undefined || (await countInstances(tx, serverId, id)) <= atWork) ids.push(id)
      }
      await assertRoomForTools(tx, serverId, { more: ids.length, maxToolsPerServer })
      const picked = await store.listPickedTools(tx, ids)
      const nameOf = await createInstanceNames(tx, serverId)
      const takenKeysOf = createTakenKeys(tx, serverId, await listGlobals(tx, serverId))
      const instances: InstanceDraft[] = []
      for (const toolId of ids) {
        const { tool, isForeign } = getPicked(picked, toolId)
        const bindings = { ...defaultBindingsOf(tool), ...(await takenKeysOf(tool)) }
        instances.push({ toolId, name: nameOf(tool.name), tool, bindings, isForeign })
      }
      await addInstances(tx, { actor, server, sealing }, instances)
      if (instances.length > 0) announce({ type: 'server_changed', serverId })
      return instances.map(({ name }) => name)
    }),
})

export type ToolAdding = ReturnType<typeof createToolAdding>
