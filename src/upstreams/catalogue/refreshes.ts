import type { UpstreamConnections } from '../connection/upstream-connections.ts'
import { UpstreamError } from '../connection/upstream-error.ts'
import type { Upstream } from '../upstream.ts'
import { type Catalogue, type KeptCatalogue, sourceOf } from './catalogue.ts'
import { BURST_MS, MAX_FRESH_MS, MAX_SOON_IN_A_ROW, MIN_FRESH_MS } from './catalogue-limits.ts'
import { fetchCatalogue } from './fetch-catalogue.ts'
import type { KeptCatalogues } from './kept-catalogues.ts'

export type RefreshesOptions = {
  connections: UpstreamConnections
  kept: KeptCatalogues
  /** Told of what should not happen: a catalogue that cannot be kept. */
  onTrouble: (error: unknown, upstreamId: string) => void
}

/** `kept` is there as soon as the upstream has answered; `done` once it is written down and everybody was told. */
export type Refresh = { kept: Promise<KeptCatalogue>; done: Promise<KeptCatalogue> }

/**
 * How long each waits before it is asked anew for what it tells: a moment, but ever longer where it tells of changes
 * without end, until it has been quiet for as long as the longest wait.
 */
const createPauses = () => {
  const told = new Map<string, { inARow: number; at: number }>()
  return {
    next: (id: string, now: number): number => {
      const known = told.get(id)
      const inARow = known === undefined || now - known.at > 2 * MIN_FRESH_MS ? 1 : known.inARow + 1
      told.set(id, { inARow, at: now })
      return Math.min(BURST_MS * 2 ** Math.max(0, inARow - MAX_SOON_IN_A_ROW), MIN_FRESH_MS)
    },
    forget: (id: string): void => {
      told.delete(id)
    },
  }
}

/** Asks upstreams anew for what they offer: each once at a time, however many want it. */
export const createRefreshes = ({ connections, kept: catalogues, onTrouble }: RefreshesOptions) => {
  const underWay = new Map<string, Refresh>()
  const dueAt = new Map<string, number>()
  /** The source that was last asked for, whatever came of it. */
  const askedFor = new Map<string, string>()
  const bursts = new Map<string, NodeJS.Timeout>()
  const pauses = createPauses()
  let isClosed = false

  const fetch = async (id: string, before: KeptCatalogue | undefined): Promise<[source: string, Catalogue]> => {
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
    return [source, catalogue]
  }

  const start = (upstream: Upstream): Refresh => {
    const { id } = upstream
    const known = underWay.get(id)
    if (known !== undefined) return known
    const taken = (async () => {
      const before = await catalogues.find(id)
      const [source, catalogue] = await fetch(id, before)
      return { before, fresh: await catalogues.take(upstream, source, catalogue) }
    })()
    const done = (async () => {
      try {
        const { before, fresh } = await taken
        await catalogues.write(upstream, fresh, before)
        return fresh
      } finally {
        underWay.delete(id)
      }
    })()
    const started: Refresh = { kept: taken.then(({ fresh }) => fresh), done }
    // Whoever wants to know waits for them; nobody may.
    started.kept.catch(() => {})
    done.catch((error: unknown) => {
      if (!(error instanceof UpstreamError) && !isClosed) onTrouble(error, id)
    })
    underWay.set(id, started)
    return started
  }

  /** From now on: one that is under way may have read the old list, or have begun before the upstream was changed. */
  const startAnew = async (upstream: Upstream): Promise<KeptCatalogue> => {
    await underWay.get(upstream.id)?.done.catch(() => {})
    return start(upstream).done
  }

  /** Soon, or less so where that is wanted over and over; and once more where one is under way that may have read the old list. */
  const startSoon = (upstream: Upstream): void => {
    if (isClosed || bursts.has(upstream.id)) return
    const run = (): void => {
      bursts.delete(upstream.id)
      const known = underWay.get(upstream.id)
      if (known === undefined) start(upstream)
      else void known.done.catch(() => {}).then(() => startSoon(upstream))
    }
    const timer = setTimeout(run, pauses.next(upstream.id, Date.now()))
    timer.unref()
    bursts.set(upstream.id, timer)
  }

  return {
    start,
    startAnew,
    startSoon,
    isUnderWay: (upstreamId: string): boolean => underWay.has(upstreamId),
    /** Whether it has been asked as it is configured now, whatever came of it. */
    wasAsked: (upstream: Upstream): boolean => askedFor.get(upstream.id) === sourceOf(upstream),
    isDue: (upstreamId: string, now: number): boolean => (dueAt.get(upstreamId) ?? 0) <= now,
    forget: (upstreamId: string): void => {
      dueAt.delete(upstreamId)
      askedFor.delete(upstreamId)
      pauses.forget(upstreamId)
    },
    /** Resolves once nothing is asked or written any more; for that the connections are to be closed meanwhile. */
    close: async (): Promise<void> => {
      isClosed = true
      for (const timer of bursts.values()) clearTimeout(timer)
      await Promise.allSettled([...underWay.values()].map(({ done }) => done))
    },
  }
}
