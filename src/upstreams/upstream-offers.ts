import type { UpstreamCatalogues } from './catalogue/index.ts'
import { listSkippedItems, type SkippedItem, type UpstreamSource } from './present-tools.ts'
import type { UpstreamReviews } from './review/index.ts'

export type UpstreamOffersParts = {
  catalogues: Pick<UpstreamCatalogues, 'find'>
  reviews: Pick<UpstreamReviews, 'listLiveSources'>
  /** Names of the server's own tools, which those of upstreams give way to. */
  listToolNames: (serverId: string) => Promise<readonly string[]>
}

/** More of one upstream say no more. */
const MAX_SKIPPED = 500

/** What is known of what upstreams offer, without asking any of them. */
export const createUpstreamOffers = ({ catalogues, reviews, listToolNames }: UpstreamOffersParts) => ({
  /** What it was last heard to offer; undefined where it never was, as it is configured now. */
  find: async (upstream: UpstreamSource['upstream']) => (await catalogues.find([upstream])).get(upstream.id),

  /** By upstream, what clients of the server do not see of it because its name is taken. */
  listSkipped: async (serverId: string): Promise<ReadonlyMap<string, readonly SkippedItem[]>> => {
    const sources = await reviews.listLiveSources(serverId)
    const skipped = sources.length === 0 ? [] : listSkippedItems(sources, await listToolNames(serverId))
    const byUpstream = Map.groupBy(skipped, ({ upstreamId }) => upstreamId)
    return new Map([...byUpstream].map(([id, own]) => [id, own.slice(0, MAX_SKIPPED)]))
  },
})

export type UpstreamOffers = ReturnType<typeof createUpstreamOffers>
