import type { Database } from '../../lib/db/client.ts'
import type { Changes } from '../../lib/events/changes.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { UpstreamConnections } from '../connection/upstream-connections.ts'
import { UpstreamError } from '../connection/upstream-error.ts'
import type { Upstream } from '../upstream.ts'
import type { KeptCatalogue } from './catalogue.ts'
import { FIRST_FETCH_MS, MIN_FRESH_MS, TICK_MS } from './catalogue-limits.ts'
import { createKeptCatalogues } from './kept-catalogues.ts'
import { createRefreshes, type RefreshesOptions } from './refreshes.ts'

export type CataloguesOptions = Pick<RefreshesOptions, 'onTrouble'> & {
  db: Database
  changes: Changes
  connections: UpstreamConnections
}

const LIST_CHANGED = /^notifications\/(tools|resources|prompts)\/list_changed$/

const disabled = () => new AppError('conflict', 'This upstream is disabled: enable it before you ask it for its lists.')

/** Settles when all of them have, or when the time is up. */
const settleWithin = async (promises: readonly Promise<unknown>[], ms: number): Promise<void> => {
  const timeUp = Promise.withResolvers<void>()
  const timer = setTimeout(timeUp.resolve, ms)
  await Promise.race([Promise.allSettled(promises), timeUp.promise])
  clearTimeout(timer)
}

/** What upstreams offer, kept in memory and in the database: lists are there before any upstream is up. */
export const createUpstreamCatalogues = ({ db, changes, connections, onTrouble }: CataloguesOptions) => {
  const kept = createKeptCatalogues({ db, changes })
  const refreshes = createRefreshes({ connections, kept, onTrouble })
  let isClosed = false

  connections.onNotification((upstream, { method }) => {
    if (LIST_CHANGED.test(method)) refreshes.startSoon(upstream)
  })
  connections.onState((upstream, { kind }) => {
    if (kind !== 'connected' || isClosed) return
    // What it offers may have changed while it was away.
    if (Date.now() - kept.fetchedAtOf(upstream.id) > MIN_FRESH_MS) refreshes.startSoon(upstream)
  })

  const refreshWhatIsDue = (): void => {
    const now = Date.now()
    for (const id of kept.forgetUnused(now, refreshes.isUnderWay)) refreshes.forget(id)
    for (const { upstream, connection } of connections.listHeld()) {
      // A process is not started to ask whether anything is new.
      const canBeAsked = upstream.config.transport !== 'stdio' || connection?.state().kind === 'connected'
      if (connection !== undefined && canBeAsked && refreshes.isDue(upstream.id, now)) refreshes.start(upstream)
    }
  }
  const ticking = setInterval(refreshWhatIsDue, TICK_MS)
  ticking.unref()

  return {
    /** What is kept of each, by id; none is asked. */
    find: kept.read,
    /**
     * What is kept of each, at once. Those of which nothing is kept are asked meanwhile, once: what comes of it is told
     * as a change, now or when their connection is tried again.
     */
    list: async (upstreams: readonly Upstream[]): Promise<ReadonlyMap<string, KeptCatalogue>> => {
      const known = await kept.read(upstreams)
      for (const upstream of upstreams) {
        if (!known.has(upstream.id) && !refreshes.wasAsked(upstream)) refreshes.startSoon(upstream)
      }
      return known
    },
    /**
     * Before a server is mounted: upstreams that nobody has asked yet are asked, and waited for a short while, so that
     * its first client sees their tools; later ones come as a change. Never rejects.
     */
    prepare: async (serverId: string): Promise<void> => {
      try {
        const upstreams = (await connections.sync(serverId)).filter(({ isEnabled }) => isEnabled)
        const known = await kept.read(upstreams)
        const unknown = upstreams.filter(({ id }) => !known.has(id))
        if (unknown.length > 0) {
          await settleWithin(
            unknown.map(upstream => refreshes.start(upstream).kept),
            FIRST_FETCH_MS,
          )
        }
      } catch (error) {
        onTrouble(error, serverId)
      }
    },
    /** Asks it anew, and waits for it a short while; whatever comes of it is told as a change. Never rejects. */
    refreshSoon: async (upstream: Upstream): Promise<void> => {
      if (!upstream.isEnabled || isClosed) return
      try {
        await connections.sync(upstream.serverId)
        await settleWithin([refreshes.startAnew(upstream)], FIRST_FETCH_MS)
      } catch (error) {
        onTrouble(error, upstream.id)
      }
    },
    /**
     * Asks for what it offers by now. Throws `conflict` where the upstream is disabled, and `unavailable` with what is
     * wrong with it.
     */
    refresh: async (upstream: Upstream): Promise<KeptCatalogue> => {
      if (!upstream.isEnabled) throw disabled()
      await connections.sync(upstream.serverId)
      try {
        return await refreshes.startAnew(upstream)
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error
        throw new AppError('unavailable', error.message, { cause: error })
      }
    },
    /** Resolves once nothing is asked or written any more; for that the connections are to be closed meanwhile. */
    close: async (): Promise<void> => {
      isClosed = true
      clearInterval(ticking)
      await refreshes.close()
    },
  }
}

export type UpstreamCatalogues = ReturnType<typeof createUpstreamCatalogues>
