import { createPause, mapInTurns } from '../../lib/worker/pause.ts'
import type { Instance, ServerBlueprint } from '../../servers/server.ts'
import { MAX_UPSTREAM_TOOLS } from '../../upstreams/catalogue/catalogue-limits.ts'
import { removeHidden } from '../../upstreams/catalogue/hidden-text.ts'
import { instructionsOf, listAllowedTools, type UpstreamSource } from '../../upstreams/catalogue/present-tools.ts'
import type { Upstream } from '../../upstreams/upstream.ts'
import type { CompiledTool } from '../call/compiled-tool.ts'
import { onOneLine } from '../call/group-texts.ts'
import type { ToolGroup } from '../call/tool-group.ts'
import { compileUpstreamTool, type UpstreamToolParts } from '../compile-upstream-tools.ts'
import type { OpenedGlobals } from '../opened-globals.ts'
import { compileUnlistedOf } from '../unlisted-tools.ts'

type GroupParts = UpstreamToolParts & {
  /** Whether unlisted tools may be called. No builder has reviewed them. */
  hasUnlisted: boolean
  /** Returns the upstream's current failure, if any, with secrets masked. */
  outageOf: (upstream: Upstream) => string | undefined
  onSkipped: (tool: string, reason: string) => void
}

/**
 * Compiles the tools of an upstream under the upstream's own names, without invisible characters.
 * The history records the names that are unique on the server.
 */
const listInner = async (
  source: UpstreamSource,
  room: number,
  globals: OpenedGlobals,
  parts: GroupParts,
): Promise<readonly CompiledTool[]> => {
  const tools = new Map<string, CompiledTool>()
  const pause = createPause()
  for (const item of listAllowedTools(source)) {
    const { upstream } = source
    const compiled = compileUpstreamTool(upstream, item, globals, parts)
    const tool = { ...compiled, name: removeHidden(item.name), recordedAs: compiled.name }
    await pause()
    const shown = `"${tool.name}" of the MCP server "${upstream.name}"`
    if (tools.has(tool.name))
      parts.onSkipped(tool.name, `${shown} has the same name as another tool, apart from invisible characters`)
    else if (tools.size === room) {
      parts.onSkipped(tool.name, `the MCP servers of this server have more than ${MAX_UPSTREAM_TOOLS} tools in total`)
      break
    } else tools.set(tool.name, tool)
  }
  return [...tools.values()]
}

/** Creates a group for each upstream, with the upstream's name. */
export const groupUpstreams = async (
  sources: readonly UpstreamSource[],
  absent: readonly Upstream[],
  globals: OpenedGlobals,
  parts: GroupParts,
): Promise<ToolGroup[]> => {
  let room = MAX_UPSTREAM_TOOLS
  const known = await mapInTurns(sources, async (source): Promise<ToolGroup> => {
    const { upstream } = source
    const tools = await listInner(source, room, globals, parts)
    room -= tools.length
    return {
      name: upstream.name,
      description: upstream.description ?? instructionsOf(source),
      outage: parts.outageOf(upstream),
      tools,
      unlisted: parts.hasUnlisted ? compileUnlistedOf(source, 'own', globals, parts) : undefined,
      off: upstream.config.features.tools
        ? undefined
        : `The feature "tools" of the MCP server "${upstream.name}" is off, so its tools cannot be used`,
    }
  })
  const unknown = absent.map(
    (upstream): ToolGroup => ({
      name: upstream.name,
      description: upstream.description,
      outage: parts.outageOf(upstream),
      tools: undefined,
    }),
  )
  return [...known, ...unknown]
}

/**
 * Makes names unique, as in `Weather` and `Weather 2`, because two toolkits may have the same title, or a toolkit may
 * have the same name as an upstream.
 */
const createNames = (taken: Iterable<string>) => {
  const names = new Set(taken)
  return (wanted: string): string => {
    let name = wanted
    for (let count = 2; names.has(name); count++) name = `${wanted} ${count}`
    names.add(name)
    return name
  }
}

export type CompiledInstance = { instance: Instance; tool: CompiledTool }

/** Creates a group for each toolkit with instances, with the toolkit's title. Lists omit it if all are disabled. */
export const groupToolkits = (
  toolkits: ServerBlueprint['toolkits'],
  compiled: readonly CompiledInstance[],
  upstreamNames: Iterable<string>,
): ToolGroup[] => {
  const nameOf = createNames(upstreamNames)
  const byToolkit = Map.groupBy(compiled, ({ instance }) => instance.tool.toolkitId)
  return toolkits.flatMap(({ id, title, description }): ToolGroup[] => {
    const own = byToolkit.get(id)
    if (own === undefined) return []
    const isHidden = own.every(({ instance }) => !instance.isEnabled)
    const tools = own.map(({ tool }) => tool)
    return [{ name: nameOf(onOneLine(title) || id), description, outage: undefined, tools, isHidden }]
  })
}

/** Lists the compiled tools, each with the name of its group if it is in one. */
export const listWithGroups = (compiled: readonly CompiledInstance[], groups: readonly ToolGroup[]): CompiledTool[] => {
  const groupOf = new Map(groups.flatMap(({ name, tools = [] }) => tools.map(tool => [tool.name, name] as const)))
  return compiled.map(({ tool }) => ({ ...tool, group: groupOf.get(tool.name) }))
}

export const byGroupName = (a: ToolGroup, b: ToolGroup): number => (a.name < b.name ? -1 : 1)
