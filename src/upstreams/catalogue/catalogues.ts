import { AppError } from '../../kernel/index.ts'
import type { Database } from '../../platform/db/index.ts'
import type { Changes } from '../../platform/events/index.ts'
import { UpstreamError } from '../connection/index.ts'
import type { Upstream } from '../upstream.ts'
import type { UpstreamConnections } from '../upstream-connections.ts'
import { findCatalogue, keepCatalogue, listCatalogueHashes, touchCatalogue } from './catalogue.store.ts'
import { hashOf, type KeptCatalogue, sourceOf } from './catalogue.ts'
import { BURST_MS, FIRST_FETCH_MS, MAX_FRESH_MS, MIN_FRESH_MS, TICK_MS, UNUSED_MS } from './catalogue-limits.ts'
import { fetchCatalogue } from './fetch-catalogue.ts'

export type CataloguesOptions = {
  db: Database
  changes: Changes
  connections: UpstreamConnections
  /** Told of what should not happen: a catalogue that cannot be kept. */
  onTrouble: (error: unknown, upstreamId: string) => void
}

/** `kept` is there as soon as the upstream has answered; `done` once it is written down and everybody was told. */
type Refresh = { kept: Promise<KeptCatalogue>; done: Promise<KeptCatalogue> }

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
  const memory = new Map<string, KeptCatalogue>()
  /** Those in memory that the database does not have yet. */
  const writing = new Set<string>()
  const refreshing = new Map<string, Refresh>()
  const dueAt = new Map<string, number>()
  const usedAt = new Map<string, number>()
  /** The source that was last asked for, whatever came of it. */
  const askedFor = new Map<string, string>()
  const bursts = new Map<string, NodeJS.Timeout>()
  let isClosed = false

  const write = async ({ id, serverId }: Upstream, kept: KeptCatalogue, before: KeptCatalogue | undefined) => {
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
  }

  const fetch = async (id: string, before: KeptCatalogue | undefined): Promise<KeptCatalogue> => {
    const connection = connections.findForAll(id)
    const upstream = connections.upstreamOf(id)
    if (connection === undefined || upstream === undefined) {
      throw new UpstreamError('aborted', 'The upstream is disabled, or gone.')
    }
    const source = sourceOf(upstream)
    askedFor.set(id, source)
    // Until it has answered: soon again.
    dueAt.set(id, Date.now() + MIN_FRESH_MS)
    const { catalogue, ttlMs = MAX_FRESH_MS } = await fetchCatalogue(
      connection,
      upstream.config.features,
      connections.secretsOf(id),
      before?.source === source ? before.catalogue : undefined,
    )
    dueAt.set(id, Date.now() + Math.min(Math.max(ttlMs, MIN_FRESH_MS), MAX_FRESH_MS))
    return { source, hash: hashOf(catalogue), catalogue, fetchedAt: new Date() }
  }

  /** Asks anew, once however many want it. */
  const refresh = (upstream: Upstream): Refresh => {
    const { id } = upstream
    const underWay = refreshing.get(id)
    if (underWay !== undefined) return underWay
    const kept = (async () => {
      const before = memory.get(id) ?? (await findCatalogue(db, id))
      const fresh = await fetch(id, before)
      memory.set(id, fresh)
      usedAt.set(id, Date.now())
      writing.add(id)
      return { before, fresh }
    })()
    const done = (async () => {
      try {
        const { before, fresh } = await kept
        await write(upstream, fresh, before)
        return fresh
      } finally {
        refreshing.delete(id)
      }
    })()
    const started: Refresh = { kept: kept.then(({ fresh }) => fresh), done }
    // Whoever wants to know waits for them; nobody may.
    started.kept.catch(() => {})
    done.catch((error: unknown) => {
      if (!(error instanceof UpstreamError) && !isClosed) onTrouble(error, id)
    })
    refreshing.set(id, started)
    return started
  }

  /** Soon, and once more where one is under way that may have read the old list. */
  const refreshSoon = (upstream: Upstream): void => {
    if (isClosed || bursts.has(upstream.id)) return
    const run = (): void => {
      bursts.delete(upstream.id)
      const underWay = refreshing.get(upstream.id)
      if (underWay === undefined) refresh(upstream)
      else void underWay.done.catch(() => {}).then(() => refreshSoon(upstream))
    }
    const timer = setTimeout(run, BURST_MS)
    timer.unref()
    bursts.set(upstream.id, timer)
  }

  connections.onNotification((upstream, { method }) => {
    if (LIST_CHANGED.test(method)) refreshSoon(upstream)
  })
  connections.onState((upstream, { kind }) => {
    if (kind !== 'connected' || isClosed) return
    // What it offers may have changed while it was away.
    const fetchedAt = memory.get(upstream.id)?.fetchedAt.getTime() ?? 0
    if (Date.now() - fetchedAt > MIN_FRESH_MS) refreshSoon(upstream)
  })

  /** Servers that use it have it themselves; the next one that is mounted reads it from the database. */
  const forgetUnused = (now: number): void => {
    for (const [id, at] of usedAt) {
      if (at > now - UNUSED_MS || writing.has(id) || refreshing.has(id)) continue
      usedAt.delete(id)
      memory.delete(id)
      dueAt.delete(id)
      askedFor.delete(id)
    }
  }

  const refreshWhatIsDue = (): void => {
    const now = Date.now()
    forgetUnused(now)
    for (const { upstream, connection } of connections.listHeld()) {
      // A process is not started to ask whether anything is new.
      const canBeAsked = upstream.config.transport !== 'stdio' || connection?.state().kind === 'connected'
      if (connection !== undefined && canBeAsked && (dueAt.get(upstream.id) ?? 0) <= now) refresh(upstream)
    }
  }
  const ticking = setInterval(refreshWhatIsDue, TICK_MS)
  ticking.unref()

  const isOf = (upstream: Upstream, found: { source: string } | undefined): boolean =>
    found?.source === sourceOf(upstream)

  /** What is kept of each, without asking any; those of which nothing is kept are not in it. */
  const read = async (upstreams: readonly Upstream[]): Promise<ReadonlyMap<string, KeptCatalogue>> => {
    if (upstreams.length === 0) return new Map()
    const ids = upstreams.map(({ id }) => id)
    const stored = await listCatalogueHashes(db, ids)
    const found = new Map<string, KeptCatalogue>()
    for (const upstream of upstreams) {
      const { id } = upstream
      const known = memory.get(id)
      const isNewest = known !== undefined && (writing.has(id) || stored.get(id)?.hash === known.hash)
      const kept = isNewest ? known : stored.has(id) ? await findCatalogue(db, id) : undefined
      if (kept === undefined || !isOf(upstream, kept)) continue
      if (!writing.has(id)) memory.set(id, kept)
      usedAt.set(id, Date.now())
      found.set(id, kept)
    }
    return found
  }

  return {
    /** What is kept of each, by id; none is asked. */
    find: read,
    /**
     * What is kept of each, at once. Those of which nothing is kept are asked meanwhile, once: what comes of it is told
     * as a change, now or when their connection is tried again.
     */
    list: async (upstreams: readonly Upstream[]): Promise<ReadonlyMap<string, KeptCatalogue>> => {
      const kept = await read(upstreams)
      for (const upstream of upstreams) {
        const { id } = upstream
        if (!kept.has(id) && askedFor.get(id) !== sourceOf(upstream)) refreshSoon(upstream)
      }
      return kept
    },
    /**
     * Before a server is mounted: upstreams that nobody has asked yet are asked, and waited for a short while, so that
     * its first client sees their tools; later ones come as a change. Never rejects.
     */
    prepare: async (serverId: string): Promise<void> => {
      try {
        const upstreams = (await connections.sync(serverId)).filter(({ isEnabled }) => isEnabled)
        const kept = await read(upstreams)
        const unknown = upstreams.filter(({ id }) => !kept.has(id))
        if (unknown.length > 0) {
          await settleWithin(
            unknown.map(upstream => refresh(upstream).kept),
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
        await settleWithin([refresh(upstream).done], FIRST_FETCH_MS)
      } catch (error) {
        onTrouble(error, upstream.id)
      }
    },
    /** Asks now. Throws `conflict` where the upstream is disabled, and `unavailable` with what is wrong with it. */
    refresh: async (upstream: Upstream): Promise<KeptCatalogue> => {
      if (!upstream.isEnabled) throw disabled()
      await connections.sync(upstream.serverId)
      try {
        return await refresh(upstream).done
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error
        throw new AppError('unavailable', error.message, { cause: error })
      }
    },
    /** Resolves once nothing is asked or written any more; for that the connections are to be closed meanwhile. */
    close: async (): Promise<void> => {
      isClosed = true
      clearInterval(ticking)
      for (const timer of bursts.values()) clearTimeout(timer)
      await Promise.allSettled([...refreshing.values()].map(({ done }) => done))
    },
  }
}

export type UpstreamCatalogues = ReturnType<typeof createUpstreamCatalogues>
