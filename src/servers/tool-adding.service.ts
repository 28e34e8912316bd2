import { type Actor, AppError } from '../kernel/index.ts'
import { assertRoomForTools, takeTool } from './instances.service.ts'
import { listNamesAtWork } from './instances.store.ts'
import { getServerFor, type ServerServiceParts } from './servers.service.ts'
import * as store from './tool-picks.store.ts'
import { makeUnique } from './unique-names.ts'

export type ToolOffer = {
  toolkits: readonly store.OfferedToolkit[]
  tools: readonly store.OfferedTool[]
  /** How many there are on all pages. */
  total: number
}

export const createToolAdding = ({
  db,
  changes,
  maxToolsPerServer,
}: ServerServiceParts & { maxToolsPerServer: number }) => ({
  /** What a server may take tools from, and those tools; `toolkitId` narrows them to one toolkit. */
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
   * Puts several tools to work at once, all of them or none, each under its own name or that with a number behind it;
   * their toolkits, where they are the organization's own, are used by the server from then on. Answers the names.
   */
  addTools: (actor: Actor, serverId: string, toolIds: readonly string[]): Promise<string[]> =>
    changes.commit(async (tx, announce) => {
      const server = await getServerFor(tx, actor, serverId, 'build')
      const wanted = [...new Set(toolIds)]
      if (wanted.length === 0) {
        throw new AppError('invalid_request', 'No tool is picked: check at least one.', {
          errors: [{ path: 'tool', message: 'is not picked' }],
        })
      }
      await assertRoomForTools(tx, serverId, { more: wanted.length, maxToolsPerServer })
      const ids: string[] = []
      for (const toolId of wanted) ids.push(await takeTool(tx, server, toolId))
      const names = await store.listToolNames(tx, ids)
      const taken = new Set(await listNamesAtWork(tx, serverId))
      const instances = ids.map(toolId => {
        const name = makeUnique(names.get(toolId) ?? 'tool', taken)
        taken.add(name)
        return { toolId, name }
      })
      await store.createBareInstances(tx, serverId, instances)
      announce({ type: 'server_changed', serverId })
      return instances.map(({ name }) => name)
    }),
})

export type ToolAdding = ReturnType<typeof createToolAdding>
