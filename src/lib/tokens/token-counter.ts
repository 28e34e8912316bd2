import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { countTokens } from './tokens.ts'

/** Counts of some 100 bytes each: the tools of ten of the largest servers. As a size: `max` allocates at the start. */
const MAX_REMEMBERED = 20_000
/** Shorter texts are counted faster than their hash is looked up. */
const MIN_REMEMBERED_CHARACTERS = 64

/** Counts tokens in TOKEN_ENCODING, and each text once. */
export type TokenCounter = (text: string) => Promise<number>

/** Remembers the tokens of texts, by their hash. */
export const createKnownTokens = () => {
  const known = new LRUCache<string, number>({ maxSize: MAX_REMEMBERED, sizeCalculation: () => 1 })
  return {
    /** Returns the tokens of a text if they are known, and a function that remembers them. */
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
  return async (texts: readonly string[]): Promise<number[]> => {
    const counted: number[] = []
    for (const text of texts) counted.push(await count(text))
    return counted
  }
}
