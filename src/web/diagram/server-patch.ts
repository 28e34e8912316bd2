import { formatCount, formatDuration, formatNumber, shorten } from '../../lib/kernel/format.ts'
import type { BoundParameter, ServerWiring } from '../../servers/bindings/server-wiring.ts'
import type { PresentedUpstream } from '../../upstreams/catalogue/upstream-offers.ts'
import type { UpstreamState } from '../../upstreams/upstream.ts'
import { serverTabPath, upstreamPath } from '../frame/server-frame.ts'
import { failedInWords, type ToolFigures, toHealth } from '../live/server-health.ts'
import type { Patch, PatchCaller, PatchGlobal, PatchGroup, PatchParameter, PatchState, PatchTool } from './patch.ts'

export type UpstreamWiring = PresentedUpstream & { state: UpstreamState }

export type ServerPatchInput = {
  wiring: ServerWiring
  /** Call figures by tool. Tools without calls are absent. */
  figures: readonly ToolFigures[]
  upstreams?: readonly UpstreamWiring[]
  /** Clients and tokens that use the server, connected ones first. */
  callers: readonly PatchCaller[]
  now: Date
}

/** Maximum length of a value. The tool's page shows the whole value. */
const MAX_VALUE_CHARACTERS = 60

type BoundTool = ServerWiring['tools'][number]
type GlobalSources = ReadonlyMap<string, 'global' | 'secret'>

const fixedText = ({ binding }: BoundParameter): string | undefined => {
  if (binding.source !== 'instance') return undefined
  const { value } = binding
  return shorten(typeof value === 'string' && value !== '' ? value : JSON.stringify(value), MAX_VALUE_CHARACTERS)
}

/**
 * Converts a bound parameter. A fixed value with several globals is connected to only one of them: a missing global if
 * there is one, otherwise a secret if there is one.
 */
const toParameter = (bound: BoundParameter, globalSources: GlobalSources): PatchParameter => {
  const { name, globalKeys, lacking } = bound
  if (lacking !== undefined) return { name, source: lacking.isNeeded ? 'missing' : 'global', key: lacking.key }
  const value = fixedText(bound)
  const key = globalKeys.find(of => globalSources.get(of) === 'secret') ?? globalKeys[0]
  if (key !== undefined) return { name, source: globalSources.get(key) ?? 'global', key, value }
  return value === undefined ? { name, source: 'exposed' } : { name, source: 'fixed', value }
}

const metaOf = (method: string, figures: ToolFigures | undefined): string => {
  if (figures === undefined || figures.calls === 0) return `${method} · not called`
  const { calls, rejected, failed, isFailing } = figures
  if (isFailing) return `${method} · ${failedInWords(failed, calls)}`
  const worst =
    failed > 0 ? `, ${formatNumber(failed)} failed` : rejected > 0 ? `, ${formatNumber(rejected)} rejected` : ''
  return `${method} · ${formatCount(calls, 'call')}${worst}`
}

type Context = {
  serverId: string
  globalSources: GlobalSources
  figures: ReadonlyMap<string, ToolFigures>
}

const toTool = (tool: BoundTool, { serverId, globalSources, figures }: Context): PatchTool => {
  const own = figures.get(tool.name)
  const href = `${serverTabPath(serverId, 'tools')}/${tool.id}`
  const named = { name: tool.name, href, calls: own?.calls ?? 0 }
  // Nothing can be wrong with its values until it is enabled.
  if (!tool.isEnabled) return { ...named, meta: `${tool.method} · disabled`, parameters: [] }
  if (tool.parameters === undefined) {
    return { ...named, meta: 'invalid template', state: 'failed', parameters: [] }
  }
  const parameters = tool.parameters.map(parameter => toParameter(parameter, globalSources))
  if (tool.parameters.some(({ lacking }) => lacking?.isNeeded)) {
    return { ...named, meta: `${tool.method} · needs a value`, state: 'failed', parameters }
  }
  return {
    ...named,
    meta: metaOf(tool.method, own),
    state: own?.isFailing ? 'failed' : undefined,
    parameters,
  }
}

const toToolkitGroups = ({ toolkits, tools }: ServerWiring, context: Context): readonly PatchGroup[] => {
  const byToolkit = Map.groupBy(tools, ({ toolkitId }) => toolkitId)
  return toolkits.map(({ id, title, isSnapshot }) => {
    const own = byToolkit.get(id) ?? []
    const enabled = own.filter(({ isEnabled }) => isEnabled)
    const called = enabled.flatMap(({ name }) => context.figures.get(name) ?? [])
    return {
      kind: 'toolkit',
      name: title,
      // The toolkit that a snapshot was made from may have been deleted or made private.
      href: isSnapshot ? serverTabPath(context.serverId, 'sources') : `/toolkits/${id}`,
      ...(enabled.length === 0
        ? { state: 'idle', health: own.length === 0 ? 'no tools in use' : 'all tools disabled' }
        : toHealth(called)),
      tools: own.map(tool => toTool(tool, context)),
    }
  })
}

type Health = { state: PatchState; health: string }

/** Says how soon the next try is, because a drawing cannot show the reader's time zone. */
const soonText = (time: Date, now: Date): string =>
  `in ${formatDuration(Math.max(time.getTime() - now.getTime(), 1_000))}`

/** Returns the upstream's health. Its connection state takes precedence over past calls. */
const healthOf = ({ state, hasCatalogue }: UpstreamWiring, called: readonly ToolFigures[], now: Date): Health => {
  switch (state.kind) {
    case 'disabled':
      return { state: 'idle', health: 'switched off' }
    case 'connecting':
      return { state: 'slow', health: 'connecting' }
    case 'failed': {
      const next = state.nextTryAt === undefined ? '' : `, next try ${soonText(state.nextTryAt, now)}`
      return { state: 'failed', health: `failed${next}` }
    }
    case 'connected':
      return called.length === 0 ? { state: 'good', health: 'connected' } : toHealth(called)
    case 'idle':
      if (called.length > 0) return toHealth(called)
      return { state: 'idle', health: hasCatalogue ? 'idle' : 'idle, never connected' }
  }
}

type PresentedTool = PresentedUpstream['tools'][number]

const toUpstreamTool = (
  { name, parameters }: PresentedTool,
  own: ToolFigures | undefined,
  href: string,
): PatchTool => ({
  name,
  href,
  meta: metaOf('MCP', own),
  calls: own?.calls ?? 0,
  state: own?.isFailing ? 'failed' : undefined,
  parameters: parameters.map(parameter => ({ name: parameter, source: 'exposed' })),
})

/** Converts the MCP servers attached to a server into sources for its patch diagram. */
const toUpstreamGroups = (
  upstreams: readonly UpstreamWiring[],
  figures: ReadonlyMap<string, ToolFigures>,
  now: Date,
): readonly PatchGroup[] =>
  upstreams.map(wiring => {
    const { upstream, tools } = wiring
    const href = upstreamPath(upstream.serverId, upstream.id)
    const called = tools.flatMap(({ name }) => figures.get(name) ?? [])
    return {
      kind: 'upstream',
      name: upstream.name,
      href,
      ...healthOf(wiring, called, now),
      tools: tools.map(tool => toUpstreamTool(tool, figures.get(tool.name), href)),
    }
  })

const countUses = ({ tools }: ServerWiring): ReadonlyMap<string, number> => {
  const uses = new Map<string, number>()
  for (const key of tools.flatMap(({ parameters = [] }) => parameters.flatMap(({ globalKeys }) => globalKeys))) {
    uses.set(key, (uses.get(key) ?? 0) + 1)
  }
  return uses
}

const toGlobals = (wiring: ServerWiring): readonly PatchGlobal[] => {
  const uses = countUses(wiring)
  return wiring.globals.map(({ key, value }) => ({
    key,
    source: value === undefined ? 'secret' : 'global',
    value: value === undefined ? 'hidden' : shorten(value, MAX_VALUE_CHARACTERS),
    uses: uses.get(key) ?? 0,
  }))
}

/** Builds a server's patch from its wiring, call figures, upstreams and callers. */
export const buildServerPatch = ({ wiring, figures, upstreams = [], callers, now }: ServerPatchInput): Patch => {
  const { id: serverId, name, access } = wiring.server
  const globalSources = new Map(
    wiring.globals.map(({ key, value }) => [key, value === undefined ? 'secret' : 'global'] as const),
  )
  const byTool = new Map(figures.map(figure => [figure.tool, figure]))
  return {
    title: name,
    groups: [
      ...toToolkitGroups(wiring, { serverId, globalSources, figures: byTool }),
      ...toUpstreamGroups(upstreams, byTool, now),
    ],
    globals: toGlobals(wiring),
    callers: { tier: access, href: serverTabPath(serverId, 'access'), list: callers },
    links: {
      tools: serverTabPath(serverId, 'tools'),
      sources: serverTabPath(serverId, 'sources'),
      bindings: serverTabPath(serverId, 'bindings'),
      globals: serverTabPath(serverId, 'globals'),
    },
  }
}
