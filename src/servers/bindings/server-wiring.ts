import type { Database, Transaction } from '../../lib/db/client.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { createToolOutlines, type ParameterHead, type ToolOutline } from '../../tools/tool-outlines.ts'
import { listGlobals } from '../globals/globals.store.ts'
import type { AccessTier, Binding, Bindings, Global } from '../server.ts'
import { getServerFor } from '../servers.service.ts'
import { listToolkitsInUse } from '../sources/toolkit-uses.store.ts'
import { listToolDefinitions, listWiredTools, type WiredTool } from './bindings.store.ts'
import { bindingOf, globalKeysOf } from './bindings.ts'
import { findLacking, type LackingValue } from './default-bindings.ts'
import { type KnownGlobals, knownGlobalsOf } from './sockets.ts'

/**
 * A parameter of an instance, its binding, and the keys of the globals that the binding reads. `lacking` is set if the
 * server does not have the value: the tool is then not listed if it is needed, and else called without it.
 */
export type BoundParameter = {
  name: string
  required: boolean
  binding: Binding
  globalKeys: readonly string[]
  lacking?: LackingValue | undefined
}

export type BoundTool = {
  id: string
  name: string
  toolId: string
  toolkitId: string
  method: string
  isEnabled: boolean
  /** Parameters of the tool. Undefined if its template does not compile, in which case nobody can call it. */
  parameters: readonly BoundParameter[] | undefined
}

/** A server's tools, where they come from, and what their parameters are bound to. */
export type ServerWiring = {
  server: { id: string; name: string; access: AccessTier }
  /** The toolkits that the tools come from. Snapshots appear under their own IDs. */
  toolkits: readonly { id: string; title: string; isSnapshot: boolean }[]
  /** By name. */
  tools: readonly BoundTool[]
  /** The server's globals. `value` is undefined for secrets. */
  globals: readonly { key: string; value: string | undefined }[]
}

/** Maximum number of tools per query, because both databases limit the number of bound values. */
const TOOLS_PER_QUERY = 500

/** Creates a lookup of tool outlines. Reads only the definitions that are not cached. */
export const createOutlineIndex = () => {
  const outlines = createToolOutlines()
  return async (tx: Transaction, serverId: string, tools: readonly WiredTool[]) => {
    const found = new Map(tools.map(({ tool }) => [tool.id, outlines.find(tool)]))
    const unread = [...found].flatMap(([id, outline]) => (outline === undefined ? [id] : []))
    for (let at = 0; at < unread.length; at += TOOLS_PER_QUERY) {
      const rows = await listToolDefinitions(tx, serverId, unread.slice(at, at + TOOLS_PER_QUERY))
      for (const row of rows) found.set(row.id, outlines.read(row))
    }
    return ({ tool }: Pick<WiredTool, 'tool'>): ToolOutline | undefined => found.get(tool.id)
  }
}

const bind = (
  parameters: readonly ParameterHead[],
  bindings: Bindings,
  globals: KnownGlobals,
): readonly BoundParameter[] =>
  parameters.map(parameter => {
    const { name, required } = parameter
    const binding = bindingOf(bindings, name)
    const lacking = findLacking(parameter, binding, key => globals.get(key))
    return { name, required, binding, globalKeys: [...globalKeysOf(name, binding)], lacking }
  })

/**
 * Reads the wiring of a server. The number of queries does not grow with the number of tools.
 * Throws `not_found` if the actor may not read the server.
 */
export const createServerWiring = ({ db }: { db: Database }) => {
  const readOutlines = createOutlineIndex()

  const listTools = async (serverId: string, globals: readonly Global[]): Promise<BoundTool[]> => {
    const known = knownGlobalsOf(globals)
    const tools = await listWiredTools(db, serverId)
    const outlineOf = await readOutlines(db, serverId, tools)
    return tools.flatMap(({ id, name, isEnabled, tool, toolkit, bindings }) => {
      const outline = outlineOf({ tool })
      // The tool was deleted between the two queries.
      if (outline === undefined) return []
      const parameters = outline.parameters && bind(outline.parameters, bindings, known)
      return [{ id, name, toolId: tool.id, toolkitId: toolkit.id, method: outline.method, isEnabled, parameters }]
    })
  }

  return async (actor: Actor, serverId: string): Promise<ServerWiring> => {
    const { id, name, access } = await getServerFor(db, actor, serverId, 'read')
    const globals = await listGlobals(db, id)
    const [toolkits, tools] = await Promise.all([listToolkitsInUse(db, id), listTools(id, globals)])
    const values = globals.map(global => ({ key: global.key, value: global.isSecret ? undefined : global.value }))
    return { server: { id, name, access }, toolkits, tools, globals: values }
  }
}
