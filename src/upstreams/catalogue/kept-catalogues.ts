import type { Database } from '../../lib/db/client.ts'
import type { Changes } from '../../lib/events/changes.ts'
import type { Upstream } from '../upstream.ts'
import {
  findCatalogue,
  keepCatalogue,
  listCatalogueHashes,
  sumOtherCatalogues,
  touchCatalogue,
} from './catalogue.store.ts'
import { type Catalogue, hashOf, type KeptCatalogue, sourceOf } from './catalogue.ts'
import { MAX_SERVER_CATALOGUES_CHARS, UNUSED_MS } from './catalogue-limits.ts'

export type KeptCataloguesOptions = { db: Database; changes: Changes }

/** What stands in place of lists for which there is no room beside those of the server's other upstreams. */
const withoutLists = (catalogue: Catalogue): Catalogue => {
  const mebibytes = MAX_SERVER_CATALOGUES_CHARS / 1_024 / 1_024
  const message = `What the upstreams of this server offer is larger than ${mebibytes} MiB together: all of this one is left out. Remove another, or turn features off.`
  const flags = [{ kind: 'upstream' as const, item: 'lists', message }, ...catalogue.flags]
  return { ...catalogue, tools: [], resources: [], resourceTemplates: [], prompts: [], flags }
}

/** What is kept of upstreams: what is in use in memory, all of it in the database. */
export const createKeptCatalogues = ({ db, changes }: KeptCataloguesOptions) => {
  const memory = new Map<string, KeptCatalogue>()
  /** Those in memory that the database does not have yet. */
  const writing = new Set<string>()
  const usedAt = new Map<string, number>()

  return {
    /** When it was last heard, as far as that is in memory. */
    fetchedAtOf: (upstreamId: string): number => memory.get(upstreamId)?.fetchedAt.getTime() ?? 0,
    /** What is known of an upstream, also from when it was configured otherwise. */
    find: async (upstreamId: string): Promise<KeptCatalogue | undefined> =>
      memory.get(upstreamId) ?? (await findCatalogue(db, upstreamId)),
    /** What is kept of each, without asking any; those of which nothing is kept are not in it. */
    read: async (upstreams: readonly Upstream[]): Promise<ReadonlyMap<string, KeptCatalogue>> => {
      if (upstreams.length === 0) return new Map()
      const stored = await listCatalogueHashes(
        db,
        upstreams.map(({ id }) => id),
      )
      const found = new Map<string, KeptCatalogue>()
      for (const upstream of upstreams) {
        const { id } = upstream
        const known = memory.get(id)
        const isNewest = known !== undefined && (writing.has(id) || stored.get(id)?.hash === known.hash)
        const kept = isNewest ? known : stored.has(id) ? await findCatalogue(db, id) : undefined
        if (kept?.source !== sourceOf(upstream)) continue
        if (!writing.has(id)) memory.set(id, kept)
        usedAt.set(id, Date.now())
        found.set(id, kept)
      }
      return found
    },
    /** Has it in memory at once, bounded by what the server's other upstreams have; `write` is to follow. */
    take: async (upstream: Upstream, source: string, catalogue: Catalogue): Promise<KeptCatalogue> => {
      const { id } = upstream
      const { length } = JSON.stringify(catalogue)
      const isTooMuch = (await sumOtherCatalogues(db, upstream)) + length > MAX_SERVER_CATALOGUES_CHARS
      const bounded = isTooMuch ? withoutLists(catalogue) : catalogue
      const fresh = { source, hash: hashOf(bounded), catalogue: bounded, fetchedAt: new Date() }
      memory.set(id, fresh)
      usedAt.set(id, Date.now())
      writing.add(id)
      return fresh
    },
    /** Writes down what was taken, and tells everybody where it is another than `before`. */
    write: async ({ id, serverId }: Upstream, kept: KeptCatalogue, before: KeptCatalogue | undefined) => {
      try {
        if (before?.source === kept.source && before.hash === kept.hash) {
          await touchCatalogue(db, id, kept.fetchedAt)
          return
        }
        await changes.commit(async (tx, announce) => {
          if (await keepCatalogue(tx, id, kept)) announce({ type: 'upstream_changed', upstreamId: id, serverId })
        })
      } catch (error) {
        memory.delete(id)
        throw error
      } finally {
        writing.delete(id)
      }
    },
    /**
     * Lets go from memory what nobody used for long, and answers which those are. Servers that use one have it themselves;
     * the next one that is mounted reads it from the database.
     */
    forgetUnused: (now: number, isBusy: (upstreamId: string) => boolean): string[] => {
      const unused = [...usedAt].flatMap(([id, at]) =>
        at > now - UNUSED_MS || writing.has(id) || isBusy(id) ? [] : [id],
      )
      for (const id of unused) {
        usedAt.delete(id)
        memory.delete(id)
      }
      return unused
    },
  }
}

export type KeptCatalogues = ReturnType<typeof createKeptCatalogues>
