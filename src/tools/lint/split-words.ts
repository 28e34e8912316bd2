import { splitNames } from '../../lib/search/split-words.ts'

/** Maximum length of a text that is split. Real descriptions are shorter. */
const MAX_CHARS = 2_000

/** Splits a name or text into lower-case words. For example, `getUserById` has four. */
export const splitWords = (text: string): readonly string[] => splitNames(text.slice(0, MAX_CHARS))
