import { createKnownTokens } from './known-tokens.ts'
import { countTokens } from './tokens.ts'

/** Shorter texts are counted faster than their hash is looked up. */
const MIN_REMEMBERED_CHARACTERS = 64

/** Counts tokens in TOKEN_ENCODING, those of each text once. */
export type TokenCounter = (text: string) => Promise<number>

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
