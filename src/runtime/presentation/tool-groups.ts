import { createPause, mapInTurns } from '../context/index.ts'
import type { Instance, ServerBlueprint } from '../servers/index.ts'
import {
  listAllowedTools,
  presentedName,
  removeHidden,
  type Upstream,
  type UpstreamSource,
} from '../upstreams/index.ts'
import type { OpenedGlobals } from './compile-tool.ts'
import { compileUpstreamTool, type UpstreamToolParts } from './compile-upstream-tools.ts'
import type { CompiledTool } from './compiled-server.ts'
import { onOneLine } from './group-texts.ts'
import type { ToolGroup } from './tool-group.ts'
import { compileUnlistedOf } from './unlisted-tools.ts'

/** Of one server, as many as of one that does not group. */
const MAX_UPSTREAM_TOOLS = 5_000

type GroupParts = UpstreamToolParts & {
  /** Whether tools may be called that no list has: no builder has seen them. */
  hasUnlisted: boolean
  /** What an upstream failed with, without secrets. */
  outageOf: (upstream: Upstream) => string | undefined
  onSkipped: (tool: string, reason: string) => void
}

/** Under its own name, without what nobody sees in it; history knows it by the name that tells it from all others. */
const compileInner = (
  { upstream }: UpstreamSource,
  item: UpstreamSource['kept']['catalogue']['tools'][number],
  globals: OpenedGlobals,
  parts: UpstreamToolParts,
): CompiledTool => ({
  ...compileUpstreamTool({ upstream, item, name: presentedName(upstream, item.name) }, globals, parts),
  name: removeHidden(item.name),
})

const listInner = async (
  source: UpstreamSource,
  room: number,
  globals: OpenedGlobals,
  parts: GroupParts,
): Promise<readonly CompiledTool[]> => {
  const tools = new Map<string, CompiledTool>()
  const pause = createPause()
  for (const item of listAllowedTools(source)) {
    const tool = compileInner(source, item, globals, parts)
    await pause()
    const shown = `"${tool.name}" of the upstream "${source.upstream.name}"`
    if (tools.has(tool.name))
      parts.onSkipped(tool.name, `${shown} is there already, but for what is hidden in its name`)
    else if (tools.size === room) {
      parts.onSkipped(tool.name, `the upstreams of this server have more than ${MAX_UPSTREAM_TOOLS} tools together`)
      break
    } else tools.set(tool.name, tool)
  }
  return [...tools.values()]
}

const descriptionOf = ({ upstream, kept }: UpstreamSource): string | undefined =>
  upstream.description ?? kept.catalogue.instructions

/** Each upstream as a group of its name. */
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
      description: descriptionOf(source),
      outage: parts.outageOf(upstream),
      tools,
      unlisted: parts.hasUnlisted ? compileUnlistedOf(source, 'own', globals, parts) : undefined,
      off: upstream.config.features.tools
        ? undefined
        : `The feature "tools" of the upstream "${upstream.name}" is off: none of its tools can be used`,
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

/** `Weather`, then `Weather 2`: two may have one title, or the name of an upstream. */
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

/** Each toolkit whose tools are at work as a group, called by its title. */
export const groupToolkits = (
  toolkits: ServerBlueprint['toolkits'],
  compiled: readonly CompiledInstance[],
  upstreams: readonly ToolGroup[],
): ToolGroup[] => {
  const nameOf = createNames(upstreams.map(({ name }) => name))
  const byToolkit = Map.groupBy(compiled, ({ instance }) => instance.tool.toolkitId)
  return toolkits.flatMap(({ id, title, description }): ToolGroup[] => {
    const tools = byToolkit.get(id)?.map(({ tool }) => tool)
    if (tools === undefined) return []
    return [{ name: nameOf(onOneLine(title) || id), description, outage: undefined, tools }]
  })
}

export const byGroupName = (a: ToolGroup, b: ToolGroup): number => (a.name < b.name ? -1 : 1)
