import { LRUCache } from 'lru-cache'
import type { EventBus } from '../../lib/events/event-bus.ts'
import { hashToken } from '../credentials.ts'

/** How long a verified token is cached, unless an event invalidates it. */
const FRESH_MS = 5_000
const MAX_CACHED = 10_000

/** The minimum that must be known about the holder of a token. */
export type Holder = { userId: string; expiresAt: Date }

export type TokenVerifierParts<H extends Holder> = {
  bus: EventBus
  /** Whether a string has the form of such a token. Others need no database lookup. */
  isToken: (text: string) => boolean
  find: (tokenHash: string) => Promise<H | undefined>
  /** Called on each use of a valid token. */
  noteUse: (holder: H) => void
  now: () => number
}

/**
 * Verifies tokens, with a cache of those seen in the last seconds; a change of the user's access clears it at once.
 * Only valid tokens are cached, so invalid ones cost no memory.
 */
export const createTokenVerifier = <H extends Holder>({ bus, isToken, find, noteUse, now }: TokenVerifierParts<H>) => {
  const cache = new LRUCache<string, { holder: H; freshUntil: number }>({ max: MAX_CACHED })
  // Counts invalidations: a database result from before one may be outdated and must not be cached.
  let forgotten = 0

  const load = async (tokenHash: string): Promise<H | undefined> => {
    const forgottenBefore = forgotten
    const holder = await find(tokenHash)
    if (holder === undefined || holder.expiresAt.getTime() <= now()) return undefined
    if (forgotten === forgottenBefore) cache.set(tokenHash, { holder, freshUntil: now() + FRESH_MS })
    noteUse(holder)
    return holder
  }

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
    /** Returns the holder synchronously for a cached token; undefined if the token is unknown or expired. */
    verify: (token: string): H | undefined | Promise<H | undefined> => {
      if (!isToken(token)) return undefined
      const tokenHash = hashToken(token)
      const cached = cache.get(tokenHash)
      if (cached === undefined || cached.freshUntil <= now()) return load(tokenHash)
      if (cached.holder.expiresAt.getTime() <= now()) return undefined
      noteUse(cached.holder)
      return cached.holder
    },
    /** Stops listening for changes. */
    close: (): void => {
      for (const stop of unsubscribe) stop()
    },
  }
}
