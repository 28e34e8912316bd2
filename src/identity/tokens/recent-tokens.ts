import { createNewestEntries } from '../platform/newest-entries.ts'
import { hashToken } from './credentials.ts'

/** How long a token is taken for good without asking the database, where no event says otherwise. */
const FRESH_MS = 5_000
const MAX_CACHED = 10_000

/** What is known of whoever holds a token, at least. */
export type Holder = { userId: string; expiresAt: Date }

export type RecentTokensParts<H extends Holder> = {
  /** Whether a text may be such a token at all: others need no look into the database. */
  isToken: (text: string) => boolean
  find: (tokenHash: string) => Promise<H | undefined>
  /** Told of each use of a good token. */
  noteUse: (holder: H) => void
  /** Milliseconds since 1970. */
  now: () => number
}

/**
 * Verifies tokens, from memory where one was seen in the last seconds. Only good ones are remembered: any number of
 * bad ones costs no memory.
 */
export const createRecentTokens = <H extends Holder>({ isToken, find, noteUse, now }: RecentTokensParts<H>) => {
  const cache = createNewestEntries<{ holder: H; freshUntil: number }>(MAX_CACHED)
  // Counts what was forgotten: an answer that the database gave before may be out of date already.
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
    /** Answers at once for a token that is in memory. undefined: no such token, or expired. */
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
