import { LRUCache } from 'lru-cache'

/** Minimum time between two recorded uses of a token. */
export const NOTE_USE_EVERY_MS = 60 * 1_000
/** Tokens whose last recorded use is cached. */
const MAX_REMEMBERED = 10_000

export type TokenUsesParts = {
  write: (tokenId: string, usedAt: Date) => Promise<void>
  onError: (error: unknown) => void
  now: () => number
}

/** Records when tokens were last used, without delaying the requests that use them. */
export const createTokenUses = ({ write, onError, now }: TokenUsesParts) => {
  const notedAt = new LRUCache<string, number>({ max: MAX_REMEMBERED })
  const underWay = new Set<Promise<void>>()
  return {
    note: (tokenId: string): void => {
      const at = now()
      if (at - (notedAt.get(tokenId) ?? Number.NEGATIVE_INFINITY) < NOTE_USE_EVERY_MS) return
      notedAt.set(tokenId, at)
      const writing = write(tokenId, new Date(at))
        .catch(onError)
        .finally(() => underWay.delete(writing))
      underWay.add(writing)
    },
    /** Waits for pending writes. */
    settle: async (): Promise<void> => {
      await Promise.all(underWay)
    },
  }
}
