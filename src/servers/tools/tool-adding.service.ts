import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { RESERVED_TOOL_PREFIX } from '../../lib/kernel/names.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { bindTakenKeys } from '../bindings/taken-keys.ts'
import { listGlobals } from '../globals/globals.store.ts'
import { getServerFor, type ServerServiceParts } from '../servers.service.ts'
import { assertRoomForTools, createChecked, takeTool } from './instances.service.ts'
import { countInstances, listAllInstanceNames } from './instances.store.ts'
import * as store from './tool-picks.store.ts'

export type ToolOffer = {
  toolkits: readonly store.OfferedToolkit[]
  tools: readonly store.OfferedTool[]
  total: number
}

/** `atWork` is the number of the tool's instances when the form was opened. If undefined, the tool is always added. */
export type ToolPick = { toolId: string; atWork?: number | undefined }

/** Maximum length of an MCP tool name (see TOOL_NAME). */
const MAX_NAME_CHARACTERS = 64

const withNumber = (name: string, number: number): string => {
  const ending = `_${number}`
  return `${name.slice(0, MAX_NAME_CHARACTERS - ending.length)}${ending}`
}

/** Returns the name unchanged if it is not taken, or else with a number appended, such as `track_2`. */
const makeUnique = (name: string, taken: ReadonlySet<string>): string => {
  const free = name.startsWith(RESERVED_TOOL_PREFIX) ? `tool_${name}`.slice(0, MAX_NAME_CHARACTERS) : name
  let unique = free
  for (let number = 2; taken.has(unique); number++) unique = withNumber(free, number)
  return unique
}

/** Names the tool whose default bindings are refused. */
const nameTool = (name: string) => (error: unknown) => {
  if (!(error instanceof AppError)) throw error
  const errors = [{ path: 'tool', message: `${name}: ${error.message}` }]
  throw new AppError(error.code, `The tool "${name}" cannot be added: ${error.message}`, { cause: error, errors })
}

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
      const taken = new Set(await listAllInstanceNames(tx, serverId))
      const instances = ids.map(toolId => {
        const name = makeUnique(picked.get(toolId)?.name ?? 'tool', taken)
        taken.add(name)
        return { toolId, name }
      })
      const isBare = ({ toolId }: { toolId: string }) => picked.get(toolId)?.hasDefaults !== true
      await store.createBareInstances(tx, serverId, instances.filter(isBare))
      const bound = instances.filter(one => !isBare(one))
      const globals = bound.length === 0 ? [] : await listGlobals(tx, serverId)
      for (const { toolId, name } of bound) {
        const definition = picked.get(toolId)?.definition
        const bindings = definition === undefined ? {} : await bindTakenKeys(tx, serverId, definition, globals)
        await createChecked(tx, { actor, server, sealing }, { toolId, name, bindings }).catch(nameTool(name))
      }
      if (instances.length > 0) announce({ type: 'server_changed', serverId })
      return instances.map(({ name }) => name)
    }),
})

export type ToolAdding = ReturnType<typeof createToolAdding>
