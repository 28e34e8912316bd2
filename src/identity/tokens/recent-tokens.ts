import { createNewestEntries } from '../../lib/process/newest-entries.ts'
import { hashToken } from '../credentials.ts'

/** How long a verified token is cached, unless an event invalidates it. */
const FRESH_MS = 5_000
const MAX_CACHED = 10_000

/** The minimum that must be known about the holder of a token. */
export type Holder = { userId: string; expiresAt: Date }

export type RecentTokensParts<H extends Holder> = {
  /** Whether a string has the form of such a token. Others need no database lookup. */
  isToken: (text: string) => boolean
  find: (tokenHash: string) => Promise<H | undefined>
  /** Called on each use of a valid token. */
  noteUse: (holder: H) => void
  /** Milliseconds since 1970. */
  now: () => number
}

/**
 * Verifies tokens, with a cache of those seen in the last seconds. Only valid tokens are cached, so invalid ones cost
 * no memory.
 */
export const createRecentTokens = <H extends Holder>({ isToken, find, noteUse, now }: RecentTokensParts<H>) => {
  const cache = createNewestEntries<{ holder: H; freshUntil: number }>(MAX_CACHED)
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
    forgetUser: (userId: string): void => {
      forgotten++
      for (const [tokenHash, { holder }] of cache.entries()) if (holder.userId === userId) cache.delete(tokenHash)
    },
    forgetAll: (): void => {
      forgotten++
      cache.clear()
    },
  }
}
