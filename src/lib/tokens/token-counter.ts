import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { mapInTurns } from '../worker/pause.ts'
import { countTokens } from './tokens.ts'

/**
 * Maximum cached counts, at about 100 bytes each: enough for the tools of ten of the largest servers. Set as `maxSize`,
 * because `max` allocates memory up front.
 */
const MAX_REMEMBERED = 20_000
/** Counting a text shorter than this takes less time than looking up its hash. */
const MIN_REMEMBERED_CHARACTERS = 64

/** Counts tokens in TOKEN_ENCODING. */
export type TokenCounter = (text: string) => Promise<number>

/** Returns the counter that works on behalf of a user. */
export type TokenCounterFor = (userId: string) => TokenCounter

/** Counts the tokens of each text. */
export type TextCounter = (texts: readonly string[]) => Promise<readonly number[]>

/** Returns the counter that works on behalf of a user or an organization. */
export type TextCounterFor = (owner: string) => TextCounter

/** Caches the token counts of texts, keyed by hash. */
export const createKnownTokens = () => {
  const known = new LRUCache<string, number>({ maxSize: MAX_REMEMBERED, sizeCalculation: () => 1 })
  return {
    /** Returns the cached token count of a text, if any, and a function that caches its count. */
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

/** Creates a function that counts the tokens of a list of texts, one after another. */
export const createTextCount = () => {
  const count = createTokenCounter()
  return (texts: readonly string[]): Promise<number[]> => mapInTurns(texts, count)
}
