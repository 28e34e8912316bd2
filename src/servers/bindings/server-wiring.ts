import type { Database } from '../../lib/db/client.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { createToolOutlines, type ParameterHead } from '../../tools/tool-outlines.ts'
import type { AccessTier, Binding, Bindings } from '../server.ts'
import { getServerFor } from '../servers.service.ts'
import { bindingOf, globalKeysOf } from './bindings.ts'
import { listBoundInstances, listGlobalValues, listToolkitsInUse, listToolRows } from './server-wiring.store.ts'

/** A parameter of an instance, its binding, and the keys of the globals it reads. */
export type BoundParameter = { name: string; binding: Binding; globalKeys: readonly string[] }

export type BoundTool = {
  id: string
  name: string
  toolId: string
  toolkitId: string
  method: string
  /** Undefined if the tool's template does not compile, so that nobody can call it. */
  parameters: readonly BoundParameter[] | undefined
}

/** A server's tools, where they come from, and what their parameters are bound to. */
export type ServerWiring = {
  server: { id: string; name: string; access: AccessTier }
  /** The id of a snapshot is its own. */
  toolkits: readonly { id: string; title: string; isSnapshot: boolean }[]
  /** By name. */
  tools: readonly BoundTool[]
  /** By key; `value` is undefined for secrets. */
  globals: readonly { key: string; value: string | undefined }[]
}

export type ReadServerWiring = (actor: Actor, serverId: string) => Promise<ServerWiring>

const bind = (parameters: readonly ParameterHead[], bindings: Bindings): readonly BoundParameter[] =>
  parameters.map(({ name }) => {
    const binding = bindingOf(bindings, name)
    return { name, binding, globalKeys: [...globalKeysOf(name, binding)] }
  })

/**
 * Reads the wiring of a server in a few flat queries, however many tools it has. Throws `not_found` if the actor may
 * not read it.
 */
export const createServerWiring = ({ db }: { db: Database }): ReadServerWiring => {
  const outlines = createToolOutlines()

  const listTools = async (serverId: string): Promise<BoundTool[]> => {
    const instances = await listBoundInstances(db, serverId)
    const rows = await listToolRows(db, [...new Set(instances.map(({ toolId }) => toolId))])
    const tools = new Map(rows.map(row => [row.id, { toolkitId: row.toolkitId, ...outlines.read(row) }]))
    return instances.flatMap(({ id, name, toolId, bindings }) => {
      const tool = tools.get(toolId)
      // The tool was deleted between the two queries.
      if (tool === undefined) return []
      const { toolkitId, method, parameters } = tool
      return [{ id, name, toolId, toolkitId, method, parameters: parameters && bind(parameters, bindings) }]
    })
  }

  return async (actor, serverId) => {
    const { id, name, access } = await getServerFor(db, actor, serverId, 'read')
    const [toolkits, tools, globals] = await Promise.all([
      listToolkitsInUse(db, id),
      listTools(id),
      listGlobalValues(db, id),
    ])
    return { server: { id, name, access }, toolkits, tools, globals }
  }
}
