import { LRUCache } from 'lru-cache'
import type { Database } from '../../lib/db/client.ts'
import type { Upstream } from '../upstream.ts'
import { listUpstreamsById } from '../upstreams.store.ts'
import { listCatalogueHashes } from './catalogue.store.ts'
import type { UpstreamCatalogues } from './catalogues.ts'
import { listAllowedTools, presentedName } from './present-tools.ts'

/** Maximum number of cached names, of all versions of all upstreams. They take about 20 MB. */
const MAX_CACHED_NAMES = 200_000

type Parts = { db: Database; catalogues: Pick<UpstreamCatalogues, 'find'> }

/** A tool of an upstream. `tool` is the upstream's own name for it, `name` the one that clients see. */
export type FoundTool = { upstream: Upstream; tool: string; name: string }

/** Caches the names of upstreams' tools. Reads a catalogue again only after it changes, because it may be large. */
export const createToolNames = ({ catalogues }: Pick<Parts, 'catalogues'>) => {
  const cache = new LRUCache<string, readonly string[]>({
    maxSize: MAX_CACHED_NAMES,
    sizeCalculation: names => names.length + 1,
  })

  /** Returns the names that clients see, unless they are taken. `hash` is that of the upstream's catalogue. */
  return async (upstream: Upstream, hash: string): Promise<readonly string[]> => {
    const key = `${upstream.id} ${hash} ${upstream.updatedAt.getTime()}`
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const stored = (await catalogues.find([upstream])).get(upstream.id)
    const allowed = stored === undefined ? [] : listAllowedTools({ upstream, stored })
    const names = allowed.map(({ name }) => presentedName(upstream, name))
    cache.set(key, names)
    return names
  }
}

export type ToolNames = ReturnType<typeof createToolNames>

/**
 * Creates a function that finds tools of upstreams by a part of their name, first those that start with it. Returns at
 * most `limit` tools. The caller must check access.
 */
export const createToolSearch =
  ({ db, catalogues }: Parts, namesOf: ToolNames) =>
  async (upstreamIds: readonly string[], text: string, limit: number): Promise<FoundTool[]> => {
    const wanted = text.toLowerCase()
    const isFirst = (name: string): boolean => name.toLowerCase().startsWith(wanted)
    const hashes = await listCatalogueHashes(db, upstreamIds)
    const found: { upstream: Upstream; name: string }[] = []
    for (const upstream of await listUpstreamsById(db, [...hashes.keys()])) {
      const names = await namesOf(upstream, hashes.get(upstream.id) ?? '')
      for (const name of names) if (name.toLowerCase().includes(wanted)) found.push({ upstream, name })
    }
    const rank = (name: string): string => `${isFirst(name) ? 0 : 1}${name}`
    const shown = found.sort((one, other) => (rank(one.name) < rank(other.name) ? -1 : 1)).slice(0, limit)
    const stored = await catalogues.find(shown.map(({ upstream }) => upstream))
    return shown.flatMap(({ upstream, name }) => {
      const items = stored.get(upstream.id)?.catalogue.tools ?? []
      const item = items.find(one => presentedName(upstream, one.name) === name)
      return item === undefined ? [] : { upstream, tool: item.name, name }
    })
  }
