import type { Database } from '../../lib/db/client.ts'
import type { UpstreamReviews } from '../review/upstream-reviews.ts'
import type { Upstream } from '../upstream.ts'
import { listEnabledUpstreams } from '../upstreams.store.ts'
import { listCatalogueHashes } from './catalogue.store.ts'
import type { UpstreamCatalogues } from './catalogues.ts'
import { listAllowedTools } from './present-tools.ts'

type Parts = {
  db: Database
  catalogues: Pick<UpstreamCatalogues, 'find'>
  reviews: Pick<UpstreamReviews, 'listLiveSources'>
}

/** Returns the number of upstream tools by server; servers without any are left out. */
export type ToolCounts = (serverIds: readonly string[]) => Promise<ReadonlyMap<string, number>>

/** Counts cached, by upstream and version. */
const MAX_CACHED = 10_000

/** Counts tools for lists of servers. A catalogue, which may be large, is only read again when it has changed. */
export const createToolCounts = ({ db, catalogues, reviews }: Parts): ToolCounts => {
  const cache = new Map<string, number>()

  const countTools = async (upstream: Upstream, hash: string): Promise<number> => {
    const key = `${upstream.id} ${hash} ${upstream.updatedAt.getTime()}`
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const stored = (await catalogues.find([upstream])).get(upstream.id)
    const count = stored === undefined ? 0 : listAllowedTools({ upstream, stored }).length
    if (cache.size >= MAX_CACHED) cache.clear()
    cache.set(key, count)
    return count
  }

  const countReviewed = async (serverId: string): Promise<number> => {
    const sources = await reviews.listLiveSources(serverId)
    return sources.reduce((sum, { stored }) => sum + stored.catalogue.tools.length, 0)
  }

  return async serverIds => {
    const found = await listEnabledUpstreams(db, serverIds)
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
      const hash = hashes.get(id)?.hash
      if (hash !== undefined) counts.set(serverId, (counts.get(serverId) ?? 0) + (await countTools(upstream, hash)))
    }
    return counts
  }
}
