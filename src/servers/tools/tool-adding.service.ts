import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { getServerFor, type ServerServiceParts } from '../servers.service.ts'
import { makeUnique } from '../unique-names.ts'
import { assertRoomForTools, takeTool } from './instances.service.ts'
import { countInstancesOf, listNamesAtWork } from './instances.store.ts'
import * as store from './tool-picks.store.ts'

export type ToolOffer = {
  toolkits: readonly store.OfferedToolkit[]
  tools: readonly store.OfferedTool[]
  /** How many there are on all pages. */
  total: number
}

/** `atWork`: how often it was at work when it was picked; left out, it is added whatever there is. */
export type ToolPick = { toolId: string; atWork?: number | undefined }

const nothingPicked = () =>
  new AppError('invalid_request', 'No tool is picked: check at least one.', {
    errors: [{ path: 'tool', message: 'is not picked' }],
  })

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
   * their toolkits, where they are the organization's own, are used by the server from then on. One that is at work
   * more often than `atWork` was added by the same form already, and is left alone. Answers the new names.
   */
  addTools: (actor: Actor, serverId: string, picks: readonly ToolPick[]): Promise<string[]> =>
    changes.commit(async (tx, announce) => {
      const server = await getServerFor(tx, actor, serverId, 'build')
      if (picks.length === 0) throw nothingPicked()
      const ids: string[] = []
      for (const { toolId, atWork } of new Map(picks.map(pick => [pick.toolId, pick])).values()) {
        const id = await takeTool(tx, server, toolId)
        if (atWork === undefined || (await countInstancesOf(tx, serverId, id)) <= atWork) ids.push(id)
      }
      await assertRoomForTools(tx, serverId, { more: ids.length, maxToolsPerServer })
      const names = await store.listToolNames(tx, ids)
      const taken = new Set(await listNamesAtWork(tx, serverId))
      const instances = ids.map(toolId => {
        const name = makeUnique(names.get(toolId) ?? 'tool', taken)
        taken.add(name)
        return { toolId, name }
      })
      await store.createBareInstances(tx, serverId, instances)
      if (instances.length > 0) announce({ type: 'server_changed', serverId })
      return instances.map(({ name }) => name)
    }),
})

export type ToolAdding = ReturnType<typeof createToolAdding>
