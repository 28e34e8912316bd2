import { LRUCache } from 'lru-cache'
import { DatabaseFailure } from '../../lib/db/failures.ts'
import type { EventBus } from '../../lib/events/event-bus.ts'
import { hashToken } from '../credentials.ts'

/** Minimum time between two recorded uses of a token. */
export const NOTE_USE_EVERY_MS = 60 * 1_000
/** Maximum number of tokens whose last recorded use is cached. */
const MAX_REMEMBERED = 10_000

/** How long a verified token stays cached if no event invalidates it. */
const FRESH_MS = 5_000
/** How long after its last successful check a token stays valid while the database is unreachable. */
const OUTAGE_MS = 5 * 60 * 1_000
const MAX_CACHED = 10_000

/** The minimum that the verifier needs to know about the holder of a token. */
export type Holder = { userId: string; expiresAt: Date }

export type TokenVerifierParts<H extends Holder> = {
  bus: EventBus
  /** Returns whether a string has the form of such a token. Other strings need no database lookup. */
  isToken: (text: string) => boolean
  find: (tokenHash: string) => Promise<H | undefined>
  /** Returns the id under which to record a use. */
  idOf: (holder: H) => string
  /** Records the use of a valid token. Called at most once a minute for each token. */
  writeUse: (tokenId: string, usedAt: Date) => Promise<void>
  onError: (error: unknown) => void
  now?: () => number
}

const uncheckable = (cause: DatabaseFailure): DatabaseFailure =>
  new DatabaseFailure(
    'unreachable',
    'The database cannot be reached, so the token could not be checked. Try again in a moment.',
    { cause, retryAfterSeconds: 1 },
  )

/**
 * Verifies tokens and caches valid ones for a few seconds, or during an outage of the database for a few minutes. A
 * change to a user's access clears that user's tokens at once. Invalid tokens are not cached, so they cost no memory.
 */
export const createTokenVerifier = <H extends Holder>(parts: TokenVerifierParts<H>) => {
  const { bus, isToken, find, idOf, writeUse, onError, now = Date.now } = parts
  const notedAt = new LRUCache<string, number>({ maxSize: MAX_REMEMBERED, sizeCalculation: () => 1 })
  const underWay = new Set<Promise<void>>()
  const cache = new LRUCache<string, { holder: H; checkedAt: number }>({
    maxSize: MAX_CACHED,
    sizeCalculation: () => 1,
  })
  // Counts invalidations. A database result from before an invalidation may be outdated and must not be cached.
  let forgotten = 0

  /** Records when a token was last used, without delaying the request that used it. */
  const noteUse = (tokenId: string): void => {
    const at = now()
    if (at - (notedAt.get(tokenId) ?? Number.NEGATIVE_INFINITY) < NOTE_USE_EVERY_MS) return
    notedAt.set(tokenId, at)
    const writing = writeUse(tokenId, new Date(at))
      .catch(onError)
      .finally(() => underWay.delete(writing))
    underWay.add(writing)
  }

  const load = async (tokenHash: string): Promise<H | undefined> => {
    const forgottenBefore = forgotten
    const holder = await find(tokenHash)
    if (holder === undefined || holder.expiresAt.getTime() <= now()) {
      cache.delete(tokenHash)
      return undefined
    }
    if (forgotten === forgottenBefore) cache.set(tokenHash, { holder, checkedAt: now() })
    noteUse(idOf(holder))
    return holder
  }

  /** Returns the holder that was found before an outage of the database. Throws if it was too long ago. */
  const recall = (tokenHash: string, failure: DatabaseFailure): H | undefined => {
    const cached = cache.get(tokenHash)
    if (cached === undefined || cached.checkedAt + OUTAGE_MS <= now()) throw uncheckable(failure)
    return cached.holder.expiresAt.getTime() <= now() ? undefined : cached.holder
  }

  const loadOrRecall = (tokenHash: string): Promise<H | undefined> =>
    load(tokenHash).catch(error => {
      if (error instanceof DatabaseFailure && error.fault === 'unreachable') return recall(tokenHash, error)
      throw error
    })

  const unsubscribe = [
    bus.subscribe('access_changed', ({ userId }) => {
      forgotten++
      for (const [tokenHash, { holder }] of cache.entries()) if (holder.userId === userId) cache.delete(tokenHash)
    }),
    bus.subscribe('resync', () => {
      forgotten++
      cache.clear()
    }),
  ]

  return {
    /** Returns the holder of a cached token synchronously. Returns undefined if the token is unknown or expired. */
    verify: (token: string): H | undefined | Promise<H | undefined> => {
      if (!isToken(token)) return undefined
      const tokenHash = hashToken(token)
      const cached = cache.get(tokenHash)
      if (cached === undefined || cached.checkedAt + FRESH_MS <= now()) return loadOrRecall(tokenHash)
      if (cached.holder.expiresAt.getTime() <= now()) return undefined
      noteUse(idOf(cached.holder))
      return cached.holder
    },
    noteUse,
    /** Stops listening for changes and writes pending uses. */
    close: async (): Promise<void> => {
      for (const stop of unsubscribe) stop()
      await Promise.all(underWay)
    },
  }
}
