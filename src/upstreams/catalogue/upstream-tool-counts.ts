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

/** By server, how many tools its upstreams let through; those without any are left out. */
export type ToolCounts = (serverIds: readonly string[]) => Promise<ReadonlyMap<string, number>>

/** Numbers that are remembered, of so many upstreams as they were then. */
const MAX_REMEMBERED = 10_000

/** Counts tools for lists of servers: what an upstream offers, which may be large, is read again only when it is new. */
export const createToolCounts = ({ db, catalogues, reviews }: Parts): ToolCounts => {
  const known = new Map<string, number>()

  const countOf = async (upstream: Upstream, hash: string): Promise<number> => {
    const key = `${upstream.id} ${hash} ${upstream.updatedAt.getTime()}`
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    const kept = (await catalogues.find([upstream])).get(upstream.id)
    const count = kept === undefined ? 0 : listAllowedTools({ upstream, kept }).length
    if (known.size >= MAX_REMEMBERED) known.clear()
    known.set(key, count)
    return count
  }

  const countReviewed = async (serverId: string): Promise<number> => {
    const sources = await reviews.listLiveSources(serverId)
    return sources.reduce((sum, { kept }) => sum + kept.catalogue.tools.length, 0)
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
      if (hash !== undefined) counts.set(serverId, (counts.get(serverId) ?? 0) + (await countOf(upstream, hash)))
    }
    return counts
  }
}
