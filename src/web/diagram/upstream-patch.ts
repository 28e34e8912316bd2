import { formatCount } from '../../lib/http/pages/format.ts'
import { timeText } from '../../lib/http/pages/time-text.ts'
import type { PresentedUpstream } from '../../upstreams/catalogue/upstream-offers.ts'
import type { UpstreamState } from '../../upstreams/upstream.ts'
import { failedInWords, type ToolFigures, toHealth } from '../live/server-health.ts'
import { upstreamPath } from '../upstreams/upstream-path.ts'
import type { PatchGroup, PatchState, PatchTool } from './patch.ts'

export type UpstreamWiring = PresentedUpstream & { state: UpstreamState }

type Health = { state: PatchState; health: string }

/** Returns the time without the date, to fit the box. */
const clockOf = (time: Date): string => timeText(time).slice(11)

/** The connection state takes precedence over past calls. */
const healthOf = ({ state, hasCatalogue }: UpstreamWiring, called: readonly ToolFigures[]): Health => {
  switch (state.kind) {
    case 'disabled':
      return { state: 'idle', health: 'switched off' }
    case 'connecting':
      return { state: 'slow', health: 'connecting' }
    case 'failed': {
      const next = state.nextTryAt === undefined ? '' : `, next try ${clockOf(state.nextTryAt)}`
      return { state: 'failed', health: `failed${next}` }
    }
    case 'connected':
      return called.length === 0 ? { state: 'good', health: 'connected' } : toHealth(called)
    case 'idle':
      if (called.length > 0) return toHealth(called)
      return { state: 'idle', health: hasCatalogue ? 'idle' : 'idle, never connected' }
  }
}

const metaOf = (own: ToolFigures | undefined): string => {
  if (own === undefined || own.calls === 0) return 'MCP · not called'
  if (own.isFailing) return `MCP · ${failedInWords(own.errors, own.calls)}`
  const errors = own.errors === 0 ? '' : `, ${formatCount(own.errors, 'error')}`
  return `MCP · ${formatCount(own.calls, 'call')}${errors}`
}

type Tool = PresentedUpstream['tools'][number]

const toTool = ({ name, parameters }: Tool, own: ToolFigures | undefined, href: string): PatchTool => ({
  name,
  href,
  meta: metaOf(own),
  calls: own?.calls ?? 0,
  state: own?.isFailing ? 'failed' : undefined,
  parameters: parameters.map(parameter => ({ name: parameter, source: 'exposed' })),
})

/** Converts the MCP servers attached to a server into sources of its patch diagram. */
export const toUpstreamGroups = (
  upstreams: readonly UpstreamWiring[],
  figures: ReadonlyMap<string, ToolFigures>,
): readonly PatchGroup[] =>
  upstreams.map(wiring => {
    const { upstream, tools } = wiring
    const href = upstreamPath(upstream.serverId, upstream.id)
    const called = tools.flatMap(({ name }) => figures.get(name) ?? [])
    return {
      kind: 'upstream',
      name: upstream.name,
      href,
      ...healthOf(wiring, called),
      tools: tools.map(tool => toTool(tool, figures.get(tool.name), href)),
    }
  })
