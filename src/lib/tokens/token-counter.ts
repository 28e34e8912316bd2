import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { mapInTurns } from '../worker/pause.ts'
import { countTokens } from './tokens.ts'

/**
 * Maximum cached counts, of some 100 bytes each: those of the tools of ten of the largest servers.
 * Set as a size, because `max` allocates memory at the start.
 */
const MAX_REMEMBERED = 20_000
/** Counting a shorter text takes less time than looking up its hash. */
const MIN_REMEMBERED_CHARACTERS = 64

/** Counts tokens in TOKEN_ENCODING. */
export type TokenCounter = (text: string) => Promise<number>

/** Caches the token counts of texts by their hash. */
export const createKnownTokens = () => {
  const known = new LRUCache<string, number>({ maxSize: MAX_REMEMBERED, sizeCalculation: () => 1 })
  return {
    /** Returns the token count of a text if it is cached, and a function that caches it. */
    find: (text: string): { tokens: number | undefined; remember: (tokens: number) => void } => {
      const key = createHash('sha1').update(text).digest('base64')
      return { tokens: known.get(key), remember: tokens => known.set(key, tokens) }
    },
  }
}

export const createTokenCounter = (): TokenCounter => {
  const known = createKnownTokens()
  return async text => {
    if (text.length < MIN_REMEMBERED_CHARACTERS) return countTokens(text)
    const { tokens, remember } = known.find(text)
    if (tokens !== undefined) return tokens
    const counted = await countTokens(text)
    remember(counted)
    return counted
  }
}

/** Counts a list of texts, one after the other. */
export const createTextCount = () => {
  const count = createTokenCounter()
  return (texts: readonly string[]): Promise<number[]> => mapInTurns(texts, count)
}
