import type { Database } from '../../lib/db/client.ts'
import { isJsonObject } from '../../lib/kernel/json.ts'
import type { UpstreamReviews } from '../review/upstream-reviews.ts'
import type { Upstream } from '../upstream.ts'
import * as store from '../upstreams.store.ts'
import { listCatalogueHashes } from './catalogue.store.ts'
import type { CatalogueItem } from './catalogue.ts'
import { MAX_UPSTREAM_TOOLS } from './catalogue-limits.ts'
import type { UpstreamCatalogues } from './catalogues.ts'
import { removeHidden } from './hidden-text.ts'
import { listSkippedItems, presentTools, type SkippedItem } from './present-tools.ts'
import { createToolNames, createToolSearch, type ToolNames } from './tool-names.ts'

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

/**
 * Counts the tools that clients get from upstreams, by server, for lists of servers. Omits servers without upstream
 * tools.
 */
const createToolCounts = ({ db, reviews, listToolNames }: UpstreamOffersParts, namesOf: ToolNames) => {
  const countReviewed = async (serverId: string, own: readonly string[]): Promise<number> =>
    presentTools(await reviews.listLiveSources(serverId), own).tools.length

  const countUnreviewed = async (
    upstreams: readonly Upstream[],
    own: readonly string[],
    hashes: ReadonlyMap<string, string>,
  ): Promise<number> => {
    const taken = new Set(own)
    for (const upstream of upstreams) {
      const hash = hashes.get(upstream.id)
      if (hash !== undefined) for (const name of await namesOf(upstream, hash)) taken.add(name)
    }
    return Math.min(taken.size - new Set(own).size, MAX_UPSTREAM_TOOLS)
  }

  return async (serverIds: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    const found = await store.listEnabledUpstreams(db, serverIds)
    const ids = found.map(({ upstream }) => upstream.id)
    const hashes = await listCatalogueHashes(db, ids)
    const counts = new Map<string, number>()
    for (const [serverId, ofServer] of Map.groupBy(found, ({ upstream }) => upstream.serverId)) {
      const own = await listToolNames(serverId)
      const upstreams = ofServer.map(({ upstream }) => upstream)
      const isReviewed = ofServer.some(one => one.isReviewed)
      const count = isReviewed ? await countReviewed(serverId, own) : await countUnreviewed(upstreams, own, hashes)
      if (count > 0) counts.set(serverId, count)
    }
    return counts
  }
}

/** Describes what upstreams offer, based on cached catalogues and without contacting the upstreams. */
export const createUpstreamOffers = (parts: UpstreamOffersParts) => {
  const namesOf = createToolNames(parts)
  return {
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

    countTools: createToolCounts(parts, namesOf),
    findTools: createToolSearch(parts, namesOf),
  }
}

export type UpstreamOffers = ReturnType<typeof createUpstreamOffers>
