import { isJsonObject } from '../../lib/kernel/json.ts'
import type { UpstreamReviews } from '../review/upstream-reviews.ts'
import type { Upstream } from '../upstream.ts'
import type { CatalogueItem } from './catalogue.ts'
import type { UpstreamCatalogues } from './catalogues.ts'
import { removeHidden } from './hidden-text.ts'
import { listSkippedItems, presentTools, type SkippedItem } from './present-tools.ts'
import type { ToolCounts } from './upstream-tool-counts.ts'

export type UpstreamOffersParts = {
  catalogues: Pick<UpstreamCatalogues, 'find'>
  reviews: Pick<UpstreamReviews, 'listLiveSources'>
  counts: ToolCounts
  listUpstreams: (serverId: string) => Promise<readonly Upstream[]>
  /** Those that requests are passed on to. */
  listPassedOnTo: (serverId: string) => Promise<readonly Upstream[]>
  findPresentation: (serverId: string) => Promise<string | undefined>
  /** Names of the server's own tools, which those of upstreams give way to. */
  listToolNames: (serverId: string) => Promise<readonly string[]>
}

/** An upstream with the tools that clients see of it; `isHeard`: whether it ever said what it offers. */
export type PresentedUpstream = {
  upstream: Upstream
  isHeard: boolean
  tools: readonly { name: string; parameters: readonly string[] }[]
}

/** More of one upstream say no more. */
const MAX_SKIPPED = 500

const parametersOf = ({ declared: { inputSchema } }: CatalogueItem): string[] => {
  const properties = isJsonObject(inputSchema) ? inputSchema.properties : undefined
  return isJsonObject(properties) ? Object.keys(properties).map(removeHidden) : []
}

/** What is known of what upstreams offer, without asking any of them. */
export const createUpstreamOffers = ({
  catalogues,
  reviews,
  counts,
  listUpstreams,
  listPassedOnTo,
  findPresentation,
  listToolNames,
}: UpstreamOffersParts) => ({
  /** What it was last heard to offer; undefined where it never was, as it is configured now. */
  find: async (upstream: Upstream) => (await catalogues.find([upstream])).get(upstream.id),

  /** By upstream, what clients of the server do not see of it because its name is taken. */
  listSkipped: async (serverId: string): Promise<ReadonlyMap<string, readonly SkippedItem[]>> => {
    // Names meet only where all stand in one list.
    if ((await findPresentation(serverId)) !== 'flat') return new Map()
    const sources = await reviews.listLiveSources(serverId)
    const skipped = sources.length === 0 ? [] : listSkippedItems(sources, await listToolNames(serverId))
    const byUpstream = Map.groupBy(skipped, ({ upstreamId }) => upstreamId)
    return new Map([...byUpstream].map(([id, own]) => [id, own.slice(0, MAX_SKIPPED)]))
  },

  /** All upstreams of a server, by name, with the tools that clients see; for who may see the server. */
  listPresented: async (serverId: string): Promise<PresentedUpstream[]> => {
    const upstreams = await listUpstreams(serverId)
    if (upstreams.length === 0) return []
    const sources = await reviews.listLiveSources(serverId)
    const heard = new Set(sources.map(({ upstream }) => upstream.id))
    const { tools } = presentTools(sources, await listToolNames(serverId))
    const byUpstream = Map.groupBy(tools, ({ upstream }) => upstream.id)
    return upstreams.map(upstream => ({
      upstream,
      isHeard: heard.has(upstream.id),
      tools: (byUpstream.get(upstream.id) ?? []).map(({ name, item }) => ({ name, parameters: parametersOf(item) })),
    }))
  },

  /** Who requests are passed on to, where they are: what that offers is told by itself alone. */
  listPassedOn: async (serverId: string): Promise<PresentedUpstream[]> =>
    (await listPassedOnTo(serverId)).map(upstream => ({ upstream, isHeard: true, tools: [] })),

  /** By server, how many tools its upstreams let through; those without any are left out. */
  countTools: counts,
})

export type UpstreamOffers = ReturnType<typeof createUpstreamOffers>
