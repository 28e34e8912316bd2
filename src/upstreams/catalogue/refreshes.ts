import type { UpstreamConnections } from '../connection/upstream-connections.ts'
import { UpstreamError, upstreamGone } from '../connection/upstream-error.ts'
import type { Upstream } from '../upstream.ts'
import { type Catalogue, type StoredCatalogue, sourceOf } from './catalogue.ts'
import type { CatalogueCache } from './catalogue-cache.ts'
import { BURST_MS, MAX_QUICK_REFRESHES, MAX_REFRESH_INTERVAL_MS, MIN_REFRESH_INTERVAL_MS } from './catalogue-limits.ts'
import { fetchCatalogue } from './fetch-catalogue.ts'
import { type CompileOutputSchemas, dropBadOutputSchemas } from './output-schemas.ts'

export type RefreshesOptions = {
  connections: UpstreamConnections
  cache: CatalogueCache
  compileOutputSchemas: CompileOutputSchemas
  /** Called on an unexpected failure, for example when a catalogue cannot be stored. */
  onError: (error: unknown, upstreamId: string) => void
}

/** `fault` is why the tools could not be listed, although the other lists could. */
type FetchedCatalogue = { source: string; catalogue: Catalogue; fault: UpstreamError | undefined }

/**
 * `fetched` resolves once the upstream has responded, `done` once the catalogue is stored and announced. `done` rejects
 * also if only the tools could not be listed.
 */
export type Refresh = { fetched: Promise<StoredCatalogue>; done: Promise<StoredCatalogue> }

/**
 * Computes the delay before a requested refresh. The delay is short at first, grows while an upstream keeps announcing
 * changes, and is reset after a quiet period.
 */
export const createBackoff = () => {
  const announced = new Map<string, { inARow: number; at: number }>()
  return {
    next: (id: string, now: number): number => {
      const known = announced.get(id)
      const inARow = known === undefined || now - known.at > 2 * MIN_REFRESH_INTERVAL_MS ? 1 : known.inARow + 1
      announced.set(id, { inARow, at: now })
      return Math.min(BURST_MS * 2 ** Math.max(0, inARow - MAX_QUICK_REFRESHES), MIN_REFRESH_INTERVAL_MS)
    },
    forget: (id: string): void => {
      announced.delete(id)
    },
  }
}

const isFault = (error: unknown): error is UpstreamError => error instanceof UpstreamError && error.kind !== 'aborted'

/** Fetches catalogues from upstreams, with at most one fetch per upstream at a time. */
export const createRefreshes = ({ connections, cache, compileOutputSchemas, onError }: RefreshesOptions) => {
  const inProgress = new Map<string, Refresh>()
  const dueAt = new Map<string, number>()
  /** The source used in each upstream's last attempt, successful or not. */
  const lastAttempted = new Map<string, string>()
  const scheduled = new Map<string, NodeJS.Timeout>()
  const backoff = createBackoff()
  const closing = new AbortController()

  const fetch = async (id: string, before: StoredCatalogue | undefined): Promise<FetchedCatalogue> => {
    const connection = connections.findForAll(id)
    const upstream = connections.upstreamOf(id)
    if (connection === undefined || upstream === undefined) throw upstreamGone()
    const source = sourceOf(upstream)
    lastAttempted.set(id, source)
    const nextTryAt = Date.now() + MIN_REFRESH_INTERVAL_MS
    dueAt.set(id, nextTryAt)
    const { secrets = [], organizationId } = connections.resolvedOf(id) ?? {}
    const tenant = { owner: upstream.serverId, group: organizationId ?? upstream.serverId }
    const setFault = (error: UpstreamError): void =>
      connections.setListFault(id, { error, nextTryAt: new Date(nextTryAt) })
    const {
      catalogue,
      ttlMs = MAX_REFRESH_INTERVAL_MS,
      fault,
    } = await fetchCatalogue(
      connection,
      upstream.config.features,
      secrets,
      before?.source === source ? before.catalogue : undefined,
      (tools, flags) => dropBadOutputSchemas(tools, flags, { ...tenant, signal: closing.signal }, compileOutputSchemas),
    ).catch((error: unknown) => {
      if (isFault(error) && connection.state().kind === 'connected') setFault(error)
      throw error
    })
    if (fault !== undefined) {
      setFault(fault)
      return { source, catalogue, fault }
    }
    connections.setListFault(id, undefined)
    dueAt.set(id, Date.now() + Math.min(Math.max(ttlMs, MIN_REFRESH_INTERVAL_MS), MAX_REFRESH_INTERVAL_MS))
    return { source, catalogue, fault }
  }

  const start = (upstream: Upstream): Refresh => {
    const { id } = upstream
    const known = inProgress.get(id)
    if (known !== undefined) return known
    const taken = (async () => {
      const before = await cache.find(id)
      const { source, catalogue, fault } = await fetch(id, before)
      return { before, fresh: await cache.put(upstream, source, catalogue), fault }
    })()
    const done = (async () => {
      try {
        const { before, fresh, fault } = await taken
        await cache.write(upstream, fresh, before)
        if (fault !== undefined) throw fault
        return fresh
      } finally {
        inProgress.delete(id)
      }
    })()
    const started: Refresh = { fetched: taken.then(({ fresh }) => fresh), done }
    // Callers may await these promises. If no caller does, a rejection must not go unhandled.
    started.fetched.catch(() => {})
    done.catch((error: unknown) => {
      if (!(error instanceof UpstreamError) && !closing.signal.aborted) onError(error, id)
    })
    inProgress.set(id, started)
    return started
  }

  /** Waits for any fetch in progress, which may have read the old list or configuration, and starts another. */
  const restart = async (upstream: Upstream): Promise<StoredCatalogue> => {
    await inProgress.get(upstream.id)?.done.catch(() => {})
    clearTimeout(scheduled.get(upstream.id))
    scheduled.delete(upstream.id)
    return start(upstream).done
  }

  /** Schedules a refresh after the backoff delay and after any fetch in progress. */
  const schedule = (upstream: Upstream): void => {
    if (closing.signal.aborted || scheduled.has(upstream.id)) return
    const run = (): void => {
      scheduled.delete(upstream.id)
      const known = inProgress.get(upstream.id)
      if (known === undefined) start(upstream)
      else void known.done.catch(() => {}).then(() => schedule(upstream))
    }
    const timer = setTimeout(run, backoff.next(upstream.id, Date.now()))
    timer.unref()
    scheduled.set(upstream.id, timer)
  }

  return {
    start,
    restart,
    schedule,
    isInProgress: (upstreamId: string): boolean => inProgress.has(upstreamId),
    /** Returns whether a fetch with this configuration was attempted, successful or not. */
    wasAttempted: (upstream: Upstream): boolean => lastAttempted.get(upstream.id) === sourceOf(upstream),
    isDue: (upstreamId: string, now: number): boolean => (dueAt.get(upstreamId) ?? 0) <= now,
    forget: (upstreamId: string): void => {
      dueAt.delete(upstreamId)
      lastAttempted.delete(upstreamId)
      backoff.forget(upstreamId)
    },
    /** Waits for fetches and writes in progress. Close the connections at the same time to end the fetches. */
    close: async (): Promise<void> => {
      closing.abort()
      for (const timer of scheduled.values()) clearTimeout(timer)
      await Promise.allSettled([...inProgress.values()].map(({ done }) => done))
    },
  }
}
