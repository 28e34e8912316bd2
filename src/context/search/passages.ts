import type { Matcher } from './matcher.ts'
import { once } from './once.ts'

/** Texts that are searched one by one. */
export type Passages = {
  readonly texts: readonly string[]
  /** The indices of those that may match, in order: all, unless the matcher tells what a match must hold. */
  candidates: (matcher: Matcher) => readonly number[] | undefined
}

/** One text of all, with where each begins. */
type Joined = { text: string; starts: Uint32Array }

const joinTexts = (texts: readonly string[]): Joined => {
  const starts = new Uint32Array(texts.length)
  let at = 0
  for (let index = 0; index < texts.length; index++) {
    starts[index] = at
    at += (texts[index] ?? '').length + 1
  }
  return { text: texts.join('\n'), starts }
}

/** In lower case at the same places, and with the one letter that has another small form; undefined when one is longer so. */
const foldCase = (text: string): string | undefined => {
  const folded = text.toLowerCase().replaceAll('ſ', 's')
  return folded.length === text.length ? folded : undefined
}

/** Adds the indices of the texts that hold all needles; the first is looked for, the others where it is. */
const collect = ({ text: haystack, starts }: Joined, needles: readonly string[], into: Set<number>): void => {
  const [needle = '', ...others] = needles
  let index = 0
  for (let at = haystack.indexOf(needle); at !== -1; ) {
    while (index + 1 < starts.length && (starts[index + 1] ?? 0) <= at) index++
    const next = starts[index + 1]
    const found = others.length === 0 ? '' : haystack.slice(starts[index], next)
    if (others.every(other => found.includes(other))) into.add(index)
    if (next === undefined) return
    at = haystack.indexOf(needle, next)
  }
}

/** What looking in any case takes is made with the first search that needs it, and kept. */
export const createPassages = (texts: readonly string[]): Passages => {
  const folded = once((): Joined | undefined => {
    const { text, starts } = joinTexts(texts)
    const lower = foldCase(text)
    return lower === undefined ? undefined : { text: lower, starts }
  })
  const inAnyCase = (needles: readonly (readonly string[])[]): readonly number[] | undefined => {
    const all = folded()
    if (all === undefined) return undefined
    const found = new Set<number>()
    for (const one of needles) collect(all, one, found)
    return [...found].sort((one, other) => one - other)
  }
  const asWritten = (needles: readonly (readonly string[])[]): readonly number[] => {
    const found: number[] = []
    for (let index = 0; index < texts.length; index++) {
      const text = texts[index] ?? ''
      if (needles.some(all => all.every(needle => text.includes(needle)))) found.push(index)
    }
    return found
  }
  return {
    texts,
    candidates: ({ needles, foldsCase }) => {
      if (needles === undefined || texts.length < 2) return undefined
      return foldsCase ? inAnyCase(needles) : asWritten(needles)
    },
  }
}
