/** Of a text as long as any honest description. */
const MAX_CHARS = 2_000

/** The words of a name or a text, in lower case: `getUserById` has four. */
export const wordsOf = (text: string): string[] =>
  text
    .slice(0, MAX_CHARS)
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
