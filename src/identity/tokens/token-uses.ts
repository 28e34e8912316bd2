import { createNewestEntries } from '../platform/newest-entries.ts'

/** How often one token's use is written down, at most. */
export const NOTE_USE_EVERY_MS = 60 * 1_000
/** Tokens whose last note is remembered. */
const MAX_REMEMBERED = 10_000

export type TokenUsesParts = {
  write: (tokenId: string, usedAt: Date) => Promise<void>
  onError: (error: unknown) => void
  now: () => number
}

/** Writes down when tokens were last used, off the path of the requests that use them. */
export const createTokenUses = ({ write, onError, now }: TokenUsesParts) => {
  const notedAt = createNewestEntries<number>(MAX_REMEMBERED)
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
    /** Waits for the notes under way. */
    settle: async (): Promise<void> => {
      await Promise.all(underWay)
    },
  }
}
