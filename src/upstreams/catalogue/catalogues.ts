import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../../lib/db/client.ts'
import type { Changes } from '../../lib/events/changes.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { LIST_CHANGED, type UpstreamConnections } from '../connection/upstream-connections.ts'
import { UpstreamError } from '../connection/upstream-error.ts'
import { isPerCaller, type Upstream } from '../upstream.ts'
import type { StoredCatalogue } from './catalogue.ts'
import { createCatalogueCache } from './catalogue-cache.ts'
import { DUE_CHECK_INTERVAL_MS, FIRST_FETCH_TIMEOUT_MS, MIN_REFRESH_INTERVAL_MS } from './catalogue-limits.ts'
import { createRefreshes, type RefreshesOptions } from './refreshes.ts'

type CataloguesOptions = Pick<RefreshesOptions, 'compileOutputSchemas' | 'onError'> & {
  db: Database
  changes: Changes
  connections: UpstreamConnections
}

/** Resolves when all promises have settled or after `ms`. */
const settleWithin = (promises: readonly Promise<unknown>[], ms: number): Promise<unknown> =>
  Promise.race([Promise.allSettled(promises), wait(ms, undefined, { ref: false })])

/** Caches catalogues in memory and in the database, so that list requests never wait for an upstream. */
export const createUpstreamCatalogues = ({
  db,
  changes,
  connections,
  compileOutputSchemas,
  onError,
}: CataloguesOptions) => {
  const cache = createCatalogueCache({ db, changes })
  const refreshes = createRefreshes({ connections, cache, compileOutputSchemas, onError })
  let isClosed = false

  connections.onNotification((upstream, { method }) => {
    if (LIST_CHANGED.test(method)) refreshes.schedule(upstream)
  })
  connections.onState((upstream, { kind }) => {
    if (kind !== 'connected' || isClosed) return
    // The lists may have changed while the upstream was disconnected.
    if (Date.now() - cache.fetchedAtOf(upstream.id) > MIN_REFRESH_INTERVAL_MS) refreshes.schedule(upstream)
  })

  // Otherwise, nobody would know before the next call whether the changed settings work.
  connections.onReplaced((_id, reopened) => {
    if (reopened !== undefined && !isClosed) refreshes.schedule(reopened)
  })

  const refreshDue = (): void => {
    const now = Date.now()
    for (const id of cache.evictUnused(now, refreshes.isInProgress)) refreshes.forget(id)
    for (const { upstream, connection } of connections.listKnown()) {
      // Do not start a process just to check for changes.
      const canBeAsked = upstream.config.transport !== 'stdio' || connection?.state().kind === 'connected'
      if (connection !== undefined && canBeAsked && refreshes.isDue(upstream.id, now)) refreshes.start(upstream)
    }
  }
  const timer = setInterval(refreshDue, DUE_CHECK_INTERVAL_MS)
  timer.unref()

  return {
    /** Returns the cached catalogues by upstream id. Never contacts an upstream. */
    find: cache.read,
    /**
     * Returns the cached catalogues immediately. Fetches missing ones once in the background and then announces them as
     * a change.
     */
    list: async (upstreams: readonly Upstream[]): Promise<ReadonlyMap<string, StoredCatalogue>> => {
      const known = await cache.read(upstreams)
      for (const upstream of upstreams) {
        if (!known.has(upstream.id) && !refreshes.wasAttempted(upstream)) refreshes.schedule(upstream)
      }
      return known
    },
    /**
     * Fetches missing catalogues before a server is mounted, and waits briefly so that the first client sees all tools.
     * Announces catalogues that take longer as a change. Never rejects.
     */
    prepare: async (serverId: string): Promise<void> => {
      try {
        const upstreams = (await connections.sync(serverId)).filter(({ isEnabled }) => isEnabled)
        const known = await cache.read(upstreams)
        const unknown = upstreams.filter(({ id }) => !known.has(id))
        if (unknown.length > 0) {
          await settleWithin(
            unknown.map(upstream => refreshes.start(upstream).fetched),
            FIRST_FETCH_TIMEOUT_MS,
          )
        }
      } catch (error) {
        onError(error, serverId)
      }
    },
    /** Fetches the catalogue again and waits briefly. If it takes longer, it is announced as a change. Never rejects. */
    refreshSoon: async (upstream: Upstream): Promise<void> => {
      if (!upstream.isEnabled || isClosed) return
      try {
        await connections.sync(upstream.serverId)
        await settleWithin([refreshes.restart(upstream)], FIRST_FETCH_TIMEOUT_MS)
      } catch (error) {
        onError(error, upstream.id)
      }
    },
    /** Fetches the current catalogue. Throws `conflict` if the upstream is disabled, or `unavailable` if it fails. */
    refresh: async (upstream: Upstream): Promise<StoredCatalogue> => {
      if (!upstream.isEnabled) {
        throw new AppError('conflict', 'This MCP server is disabled. Enable it before you refresh its lists.')
      }
      await connections.sync(upstream.serverId)
      try {
        return await refreshes.restart(upstream)
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error
        // The error may be about the account of the caller whose connection was used.
        const why = isPerCaller(upstream.config) ? error.ownWords : error.message
        throw new AppError('unavailable', why, { cause: error })
      }
    },
    /** Waits for fetches and writes in progress. Close the connections at the same time to end the fetches. */
    close: async (): Promise<void> => {
      isClosed = true
      clearInterval(timer)
      await refreshes.close()
    },
  }
}

export type UpstreamCatalogues = ReturnType<typeof createUpstreamCatalogues>
