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
  /** The upstream of a passthrough server. */
  listPassthroughTargets: (serverId: string) => Promise<readonly Upstream[]>
  findPresentation: (serverId: string) => Promise<string | undefined>
  /** Names of the server's own tools, which take precedence. */
  listToolNames: (serverId: string) => Promise<readonly string[]>
}

/** An upstream with the tools that clients see. `hasCatalogue`: whether its catalogue was ever fetched. */
export type PresentedUpstream = {
  upstream: Upstream
  hasCatalogue: boolean
  tools: readonly { name: string; parameters: readonly string[] }[]
}

/** Per upstream; more would not help the builder. */
const MAX_SKIPPED = 500

const parametersOf = ({ declared: { inputSchema } }: CatalogueItem): string[] => {
  const properties = isJsonObject(inputSchema) ? inputSchema.properties : undefined
  return isJsonObject(properties) ? Object.keys(properties).map(removeHidden) : []
}

/** Describes what upstreams offer from cached catalogues, without contacting them. */
export const createUpstreamOffers = ({
  catalogues,
  reviews,
  counts,
  listUpstreams,
  listPassthroughTargets,
  findPresentation,
  listToolNames,
}: UpstreamOffersParts) => ({
  /** Undefined if the catalogue was never fetched with the current configuration. */
  find: async (upstream: Upstream) => (await catalogues.find([upstream])).get(upstream.id),

  /** By upstream, the items that clients do not see because their name is taken. */
  listSkipped: async (serverId: string): Promise<ReadonlyMap<string, readonly SkippedItem[]>> => {
    // Names can only collide in a flat list.
    if ((await findPresentation(serverId)) !== 'flat') return new Map()
    const sources = await reviews.listLiveSources(serverId)
    const skipped = sources.length === 0 ? [] : listSkippedItems(sources, await listToolNames(serverId))
    const byUpstream = Map.groupBy(skipped, ({ upstreamId }) => upstreamId)
    return new Map([...byUpstream].map(([id, own]) => [id, own.slice(0, MAX_SKIPPED)]))
  },

  /** All upstreams of a server by name, with the tools that clients see. The caller must check access. */
  listPresented: async (serverId: string): Promise<PresentedUpstream[]> => {
    const upstreams = await listUpstreams(serverId)
    if (upstreams.length === 0) return []
    const sources = await reviews.listLiveSources(serverId)
    const heard = new Set(sources.map(({ upstream }) => upstream.id))
    const { tools } = presentTools(sources, await listToolNames(serverId))
    const byUpstream = Map.groupBy(tools, ({ upstream }) => upstream.id)
    return upstreams.map(upstream => ({
      upstream,
      hasCatalogue: heard.has(upstream.id),
      tools: (byUpstream.get(upstream.id) ?? []).map(({ name, item }) => ({ name, parameters: parametersOf(item) })),
    }))
  },

  /** The upstream of a passthrough server. Its tools are not known here. */
  listPassthrough: async (serverId: string): Promise<PresentedUpstream[]> =>
    (await listPassthroughTargets(serverId)).map(upstream => ({ upstream, hasCatalogue: true, tools: [] })),

  /** The number of upstream tools by server; servers without any are left out. */
  countTools: counts,
})

export type UpstreamOffers = ReturnType<typeof createUpstreamOffers>
