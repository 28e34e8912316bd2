import type { Matcher } from './matcher.ts'
import { once } from './once.ts'

/** Texts that are searched one by one. */
export type Passages = {
  readonly texts: readonly string[]
  /** The indices of those that may match, in order: all, unless the matcher tells what a match must hold. */
  candidates: (matcher: Matcher) => readonly number[] | undefined
}

/** Below so many characters in all, to look for the needles would take longer than it saves. */
const MIN_JOINED_CHARS = 10_000

/** One text of all, with where each begins. */
type Joined = { text: string; starts: Uint32Array }

const joinTexts = (texts: readonly string[]): Joined => {
  const starts = new Uint32Array(texts.length)
  let at = 0
  for (const [index, text] of texts.entries()) {
    starts[index] = at
    at += text.length + 1
  }
  return { text: texts.join('\n'), starts }
}

/** In lower case at the same places, and with the one letter that has another small form; undefined when one is longer so. */
const foldCase = (text: string): string | undefined => {
  const folded = text.toLowerCase().replaceAll('ſ', 's')
  return folded.length === text.length ? folded : undefined
}

/** Adds the indices of the texts that hold the needle. */
const collect = (haystack: string, starts: Uint32Array, needle: string, into: Set<number>): void => {
  let index = 0
  for (let at = haystack.indexOf(needle); at !== -1; ) {
    while (index + 1 < starts.length && (starts[index + 1] ?? 0) <= at) index++
    into.add(index)
    const next = starts[index + 1]
    if (next === undefined) return
    at = haystack.indexOf(needle, next)
  }
}

/** What is made for looking is made with the first search that needs it, and kept. */
export const createPassages = (texts: readonly string[]): Passages => {
  const joined = once(() => joinTexts(texts))
  const folded = once(() => foldCase(joined().text))
  const isWorthwhile = once(
    () => texts.length > 1 && texts.reduce((sum, { length }) => sum + length, 0) > MIN_JOINED_CHARS,
  )
  return {
    texts,
    candidates: ({ needles, foldsCase }) => {
      if (needles === undefined || !isWorthwhile()) return undefined
      const haystack = foldsCase ? folded() : joined().text
      if (haystack === undefined) return undefined
      const found = new Set<number>()
      for (const needle of needles) collect(haystack, joined().starts, needle, found)
      return needles.length === 1 ? [...found] : [...found].sort((one, other) => one - other)
    },
  }
}
