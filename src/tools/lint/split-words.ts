/** Longest text that is split; real descriptions are shorter. */
const MAX_CHARS = 2_000

/** Splits a name or text into lower-case words: `getUserById` has four. */
export const splitWords = (text: string): string[] =>
  text
    .slice(0, MAX_CHARS)
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
