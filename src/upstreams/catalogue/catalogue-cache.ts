import type { Database } from '../../lib/db/client.ts'
import type { Changes } from '../../lib/events/changes.ts'
import type { Upstream } from '../upstream.ts'
import { enterUpstreamEvent } from '../upstream-events.store.ts'
import {
  findCatalogue,
  listCatalogueHashes,
  saveCatalogue,
  sumOtherCatalogues,
  touchCatalogue,
} from './catalogue.store.ts'
import { type Catalogue, hashOf, type StoredCatalogue, sourceOf, toolDifferences } from './catalogue.ts'
import { MAX_SERVER_CATALOGUES_CHARS, UNUSED_MS } from './catalogue-limits.ts'

/** Empties the lists of a catalogue that would exceed the server's limit, and adds a flag that says so. */
const withoutLists = (catalogue: Catalogue): Catalogue => {
  const mebibytes = MAX_SERVER_CATALOGUES_CHARS / 1_024 / 1_024
  const message = `The lists of all attached MCP servers are larger than ${mebibytes} MiB in total, so the lists of this one are left out. Remove another MCP server or turn features off.`
  const flags = [{ kind: 'upstream' as const, item: 'lists', message }, ...catalogue.flags]
  return { ...catalogue, tools: [], resources: [], resourceTemplates: [], prompts: [], flags }
}

/** Caches catalogues: recently used ones in memory, all of them in the database. */
export const createCatalogueCache = ({ db, changes }: { db: Database; changes: Changes }) => {
  const memory = new Map<string, StoredCatalogue>()
  /** Upstreams whose catalogue is in memory but not yet in the database. */
  const unwritten = new Set<string>()
  const usedAt = new Map<string, number>()

  return {
    /** Returns when the catalogue was fetched, or 0 if it is not in memory. */
    fetchedAtOf: (upstreamId: string): number => memory.get(upstreamId)?.fetchedAt.getTime() ?? 0,
    /** Returns the last known catalogue, even if it was fetched with another configuration. */
    find: async (upstreamId: string): Promise<StoredCatalogue | undefined> =>
      memory.get(upstreamId) ?? (await findCatalogue(db, upstreamId)),
    /** Returns the catalogues fetched with the current configuration. Never contacts an upstream. */
    read: async (upstreams: readonly Upstream[]): Promise<ReadonlyMap<string, StoredCatalogue>> => {
      if (upstreams.length === 0) return new Map()
      const hashes = await listCatalogueHashes(
        db,
        upstreams.map(({ id }) => id),
      )
      const found = new Map<string, StoredCatalogue>()
      for (const upstream of upstreams) {
        const { id } = upstream
        const known = memory.get(id)
        const isNewest = known !== undefined && (unwritten.has(id) || hashes.get(id) === known.hash)
        const stored = isNewest ? known : hashes.has(id) ? await findCatalogue(db, id) : undefined
        if (stored?.source !== sourceOf(upstream)) continue
        if (!unwritten.has(id)) memory.set(id, stored)
        usedAt.set(id, Date.now())
        found.set(id, stored)
      }
      return found
    },
    /** Stores a catalogue in memory, with empty lists if it exceeds the server's limit. Call `write` afterward. */
    put: async (upstream: Upstream, source: string, catalogue: Catalogue): Promise<StoredCatalogue> => {
      const { id } = upstream
      const { length } = JSON.stringify(catalogue)
      const isTooMuch = (await sumOtherCatalogues(db, upstream)) + length > MAX_SERVER_CATALOGUES_CHARS
      const bounded = isTooMuch ? withoutLists(catalogue) : catalogue
      const stored = { source, hash: hashOf(bounded), catalogue: bounded, fetchedAt: new Date() }
      memory.set(id, stored)
      usedAt.set(id, Date.now())
      unwritten.add(id)
      return stored
    },
    /** Writes a catalogue to the database. Announces a change if the catalogue differs from `before`. */
    write: async ({ id, serverId }: Upstream, stored: StoredCatalogue, before: StoredCatalogue | undefined) => {
      try {
        if (before?.source === stored.source && before.hash === stored.hash) {
          await touchCatalogue(db, id, stored.fetchedAt)
          return
        }
        await changes.commit(async (tx, announce) => {
          if (!(await saveCatalogue(tx, id, stored))) return
          announce({ type: 'upstream_changed', upstreamId: id, serverId })
          const data = before && toolDifferences(before.catalogue.tools, stored.catalogue.tools)
          if (data !== undefined) await enterUpstreamEvent(tx, id, { type: 'upstream.tools_changed', data })
        })
      } catch (error) {
        memory.delete(id)
        throw error
      } finally {
        unwritten.delete(id)
      }
    },
    /**
     * Evicts catalogues that have not been used for a while from memory, and returns the ids of their upstreams.
     * Mounted servers hold their own references to catalogues.
     */
    evictUnused: (now: number, isBusy: (upstreamId: string) => boolean): string[] => {
      const unused = [...usedAt].flatMap(([id, at]) =>
        at > now - UNUSED_MS || unwritten.has(id) || isBusy(id) ? [] : [id],
      )
      for (const id of unused) {
        usedAt.delete(id)
        memory.delete(id)
      }
      return unused
    },
  }
}

export type CatalogueCache = ReturnType<typeof createCatalogueCache>
