import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { countTokens } from './tokens.ts'

/** Numbers that are remembered, of some 100 bytes each: the tools of ten of the largest servers. */
const MAX_REMEMBERED = 20_000
/** Shorter texts are counted faster than their hash is looked up. */
const MIN_REMEMBERED_CHARACTERS = 64

const keyOf = (text: string): string => createHash('sha1').update(text).digest('base64')

/** Counts tokens in TOKEN_ENCODING, those of each text once. */
export type TokenCounter = (text: string) => Promise<number>

export const createTokenCounter = (): TokenCounter => {
  const known = new LRUCache<string, number>({ max: MAX_REMEMBERED })
  return async text => {
    if (text.length < MIN_REMEMBERED_CHARACTERS) return countTokens(text)
    const key = keyOf(text)
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    const tokens = await countTokens(text)
    known.set(key, tokens)
    return tokens
  }
}
