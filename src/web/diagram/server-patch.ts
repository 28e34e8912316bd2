import { formatCount } from '../../lib/http/pages/format.ts'
import type { BoundParameter, ServerWiring } from '../../servers/bindings/server-wiring.ts'
import { serverTabPath } from '../frame/server-frame.ts'
import { failedInWords, type ToolFigures, toHealth } from '../live/server-health.ts'
import type { Patch, PatchCaller, PatchGlobal, PatchGroup, PatchParameter, PatchTool } from './patch.ts'
import { toUpstreamGroups, type UpstreamWiring } from './upstream-patch.ts'

/** What a server's patch is made of besides its wiring. */
export type ServerPatchInput = {
  wiring: ServerWiring
  /** Tools without figures were not called. */
  figures: readonly ToolFigures[]
  /** The MCP servers that it holds. */
  upstreams?: readonly UpstreamWiring[]
  /** Clients and tokens that use the server, those that are connected first. */
  callers: readonly PatchCaller[]
}

/** A value is a sign of what it is: the whole of it stands on the page of its tool. */
const MAX_VALUE_CHARACTERS = 60

type BoundTool = ServerWiring['tools'][number]
type Secrecy = ReadonlyMap<string, 'global' | 'secret'>

const shorten = (text: string): string =>
  (text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text).toWellFormed()

const fixedText = ({ binding }: BoundParameter): string | undefined => {
  if (binding.source !== 'instance') return undefined
  const { value } = binding
  return shorten(typeof value === 'string' && value !== '' ? value : JSON.stringify(value))
}

/** A fixed text with several globals in it is joined to one of them: to a missing one, else to a secret. */
const toParameter = (wired: BoundParameter, secrecy: Secrecy): PatchParameter => {
  const { name, globalKeys } = wired
  const value = fixedText(wired)
  const missing = globalKeys.find(key => !secrecy.has(key))
  if (missing !== undefined) return { name, source: 'missing', key: missing }
  const key = globalKeys.find(of => secrecy.get(of) === 'secret') ?? globalKeys[0]
  if (key !== undefined) return { name, source: secrecy.get(key) ?? 'global', key, value }
  return value === undefined ? { name, source: 'exposed' } : { name, source: 'fixed', value }
}

const metaOf = (method: string, figures: ToolFigures | undefined): string => {
  if (figures === undefined || figures.calls === 0) return `${method} · not called`
  const { calls, errors, isFailing } = figures
  if (isFailing) return `${method} · ${failedInWords(errors, calls)}`
  const errorText = errors === 0 ? '' : `, ${formatCount(errors, 'error')}`
  return `${method} · ${formatCount(calls, 'call')}${errorText}`
}

type Context = {
  serverId: string
  secrecy: Secrecy
  figures: ReadonlyMap<string, ToolFigures>
}

const toTool = (tool: BoundTool, { serverId, secrecy, figures }: Context): PatchTool => {
  const own = figures.get(tool.name)
  const href = `${serverTabPath(serverId, 'tools')}/${tool.id}`
  const named = { name: tool.name, href, calls: own?.calls ?? 0 }
  if (tool.parameters === undefined) {
    return { ...named, meta: 'its template is broken', state: 'failed', parameters: [] }
  }
  return {
    ...named,
    meta: metaOf(tool.method, own),
    state: own?.isFailing ? 'failed' : undefined,
    parameters: tool.parameters.map(parameter => toParameter(parameter, secrecy)),
  }
}

const toToolkitGroups = ({ toolkits, tools }: ServerWiring, context: Context): readonly PatchGroup[] => {
  const byToolkit = Map.groupBy(tools, ({ toolkitId }) => toolkitId)
  return toolkits.map(({ id, title, isSnapshot }) => {
    const own = byToolkit.get(id) ?? []
    const called = own.flatMap(({ name }) => context.figures.get(name) ?? [])
    return {
      kind: 'toolkit',
      name: title,
      // What a snapshot is a copy of may be gone, or hidden by now.
      href: isSnapshot ? serverTabPath(context.serverId, 'sources') : `/toolkits/${id}`,
      ...(own.length === 0 ? { state: 'idle', health: 'no tool in use' } : toHealth(called)),
      tools: own.map(tool => toTool(tool, context)),
    }
  })
}

/** How many parameters read each global. */
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
    value: value === undefined ? 'sealed' : shorten(value),
    uses: uses.get(key) ?? 0,
  }))
}

/** What the patch diagram of a server is drawn from. */
export const buildServerPatch = ({ wiring, figures, upstreams = [], callers }: ServerPatchInput): Patch => {
  const { id: serverId, name, access } = wiring.server
  const secrecy = new Map(
    wiring.globals.map(({ key, value }) => [key, value === undefined ? 'secret' : 'global'] as const),
  )
  const byTool = new Map(figures.map(figure => [figure.tool, figure]))
  return {
    title: name,
    groups: [
      ...toToolkitGroups(wiring, { serverId, secrecy, figures: byTool }),
      ...toUpstreamGroups(upstreams, byTool),
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
