import type { Matcher } from './matcher.ts'
import { escapeForRegExp } from './substring.ts'

/** Texts that are searched one by one. */
export type Passages = {
  readonly texts: readonly string[]
  /** Returns the indexes of texts that may match, in order; undefined if all may. */
  candidates: (matcher: Matcher) => readonly number[] | undefined
}

type Holds = (text: string) => boolean

/** Returns a test for all needles, longest first. */
const holdsAll = ([first = '', ...others]: readonly string[]): Holds => {
  const { length } = first
  return text => text.length >= length && text.includes(first) && others.every(other => text.includes(other))
}

/** The same, ignoring case by Unicode rules. Literals never backtrack, so this takes linear time. */
const holdsAllInAnyCase = (needles: readonly string[]): Holds => {
  const [first = /(?:)/, ...others] = needles.map(needle => new RegExp(escapeForRegExp(needle), 'iu'))
  const length = needles[0]?.length ?? 0
  return text => text.length >= length && first.test(text) && others.every(other => other.test(text))
}

export const createPassages = (texts: readonly string[]): Passages => ({
  texts,
  candidates: ({ needles, foldsCase }) => {
    if (needles === undefined || texts.length < 2) return undefined
    const holders = needles.map(foldsCase ? holdsAllInAnyCase : holdsAll)
    const found: number[] = []
    for (let index = 0; index < texts.length; index++) {
      const text = texts[index] ?? ''
      if (holders.some(holds => holds(text))) found.push(index)
    }
    return found
  },
})
