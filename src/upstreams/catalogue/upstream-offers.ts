import { LRUCache } from 'lru-cache'
import type { Database } from '../../lib/db/client.ts'
import { isJsonObject } from '../../lib/kernel/json.ts'
import type { UpstreamReviews } from '../review/upstream-reviews.ts'
import type { Upstream } from '../upstream.ts'
import * as store from '../upstreams.store.ts'
import { listCatalogueHashes } from './catalogue.store.ts'
import type { CatalogueItem } from './catalogue.ts'
import type { UpstreamCatalogues } from './catalogues.ts'
import { removeHidden } from './hidden-text.ts'
import { listAllowedTools, listSkippedItems, presentTools, type SkippedItem } from './present-tools.ts'

export type UpstreamOffersParts = {
  db: Database
  catalogues: Pick<UpstreamCatalogues, 'find'>
  reviews: Pick<UpstreamReviews, 'listLiveSources'>
  /** Returns the names of the server's own tools, which take precedence over upstream tools. */
  listToolNames: (serverId: string) => Promise<readonly string[]>
}

/** An upstream with the tools that clients see. `hasCatalogue` tells whether its catalogue was ever fetched. */
export type PresentedUpstream = {
  upstream: Upstream
  hasCatalogue: boolean
  tools: readonly { name: string; parameters: readonly string[] }[]
}

/** Maximum number of skipped items per upstream. More would not help the builder. */
const MAX_SKIPPED = 500

const parametersOf = ({ declared: { inputSchema } }: CatalogueItem): string[] => {
  const properties = isJsonObject(inputSchema) ? inputSchema.properties : undefined
  return isJsonObject(properties) ? Object.keys(properties).map(removeHidden) : []
}

/** Maximum number of cached counts. There is one for each version of an upstream. */
const MAX_CACHED = 10_000

/**
 * Counts upstream tools by server, for lists of servers. Omits servers without upstream tools. Reads a catalogue again
 * only after it changes, because it may be large.
 */
const createToolCounts = ({ db, catalogues, reviews }: UpstreamOffersParts) => {
  const cache = new LRUCache<string, number>({ max: MAX_CACHED })

  const countTools = async (upstream: Upstream, hash: string): Promise<number> => {
    const key = `${upstream.id} ${hash} ${upstream.updatedAt.getTime()}`
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const stored = (await catalogues.find([upstream])).get(upstream.id)
    const count = stored === undefined ? 0 : listAllowedTools({ upstream, stored }).length
    cache.set(key, count)
    return count
  }

  const countReviewed = async (serverId: string): Promise<number> => {
    const sources = await reviews.listLiveSources(serverId)
    return sources.reduce((sum, { stored }) => sum + stored.catalogue.tools.length, 0)
  }

  return async (serverIds: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    const found = await store.listEnabledUpstreams(db, serverIds)
    const hashes = await listCatalogueHashes(
      db,
      found.map(({ upstream }) => upstream.id),
    )
    const counts = new Map<string, number>()
    for (const { upstream, isReviewed } of found) {
      const { id, serverId } = upstream
      if (isReviewed) {
        if (!counts.has(serverId)) counts.set(serverId, await countReviewed(serverId))
        continue
      }
      const hash = hashes.get(id)
      if (hash !== undefined) counts.set(serverId, (counts.get(serverId) ?? 0) + (await countTools(upstream, hash)))
    }
    return counts
  }
}

/** Describes what upstreams offer, based on cached catalogues and without contacting the upstreams. */
export const createUpstreamOffers = (parts: UpstreamOffersParts) => ({
  /** Returns undefined if the catalogue was never fetched with the current configuration. */
  find: async (upstream: Upstream) => (await parts.catalogues.find([upstream])).get(upstream.id),

  /** Returns the items that clients do not see because their names are taken, by upstream. */
  listSkipped: async (serverId: string): Promise<ReadonlyMap<string, readonly SkippedItem[]>> => {
    // Names can collide only in a flat list.
    if ((await store.findPresentation(parts.db, serverId)) !== 'flat') return new Map()
    const sources = await parts.reviews.listLiveSources(serverId)
    const skipped = sources.length === 0 ? [] : listSkippedItems(sources, await parts.listToolNames(serverId))
    const byUpstream = Map.groupBy(skipped, ({ upstreamId }) => upstreamId)
    return new Map([...byUpstream].map(([id, own]) => [id, own.slice(0, MAX_SKIPPED)]))
  },

  /** Returns a server's upstreams, sorted by name, with the tools that clients see. The caller must check access. */
  listPresented: async (serverId: string): Promise<PresentedUpstream[]> => {
    const upstreams = await store.listUpstreamsOfAnybody(parts.db, serverId)
    if (upstreams.length === 0) return []
    const sources = await parts.reviews.listLiveSources(serverId)
    const fetched = new Set(sources.map(({ upstream }) => upstream.id))
    const { tools } = presentTools(sources, await parts.listToolNames(serverId))
    const byUpstream = Map.groupBy(tools, ({ upstream }) => upstream.id)
    return upstreams.map(upstream => ({
      upstream,
      hasCatalogue: fetched.has(upstream.id),
      tools: (byUpstream.get(upstream.id) ?? []).map(({ name, item }) => ({ name, parameters: parametersOf(item) })),
    }))
  },

  /** Returns the upstream of a passthrough server. Patchbay does not know its tools. */
  listPassthrough: async (serverId: string): Promise<PresentedUpstream[]> =>
    (await store.listUpstreamsPassedOnTo(parts.db, serverId)).map(upstream => ({
      upstream,
      hasCatalogue: true,
      tools: [],
    })),

  countTools: createToolCounts(parts),
})

export type UpstreamOffers = ReturnType<typeof createUpstreamOffers>
