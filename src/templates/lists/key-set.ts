import { HOLE } from '../scan.ts'

/** Compared levels of a key: `f[a][b]` has three. Keys that differ only in deeper levels count as equal. */
const MAX_LEVELS = 4

/** Compared characters of whole keys. */
const MAX_FLAT_CHARS = 1_000

const withoutLeadingBrackets = (key: string): string => key.replace(/^[[\]]+/, '')

/**
 * Returns the first level of a key. Ignores what some servers ignore: case (ASP.NET), blanks at the ends, the difference
 * between `.`, blanks and `_` (PHP), and brackets at the beginning (qs, Rack).
 */
const nameOf = (key: string): string => {
  const [name = ''] = withoutLeadingBrackets(key).split(/[[\]]/, 1)
  return name.trim().toLowerCase().replaceAll(/[. ]/g, '_')
}

/** Returns the whole key as a name, because `user[role]` and `user.role` are the same to ASP.NET Core. */
const flatNameOf = (key: string): string =>
  nameOf(key.slice(0, MAX_FLAT_CHARS).replaceAll(']', '').replaceAll('[', '.'))

/** Splits a key into levels, as servers do that read `f[a]` as a member of `f`. An empty level is any member. */
const levelsOf = (key: string): readonly string[] => {
  const [, ...members] = withoutLeadingBrackets(key).split('[', MAX_LEVELS)
  const inner = members.map(member => (member.split(']', 1)[0] ?? '').toLowerCase())
  const end = inner.indexOf('')
  return [nameOf(key), ...(end === -1 ? inner : inner.slice(0, end))]
}

const beginningsOf = (key: string): readonly string[] => {
  const levels = levelsOf(key)
  return levels.map((_, index) => levels.slice(0, index + 1).join('['))
}

/** Keys of a query, a form, a list of cookies or the like. */
export type KeySet = {
  add: (key: string) => void
  /** Returns whether a server may take the key for one in the set, for a part of one, or for what contains one. */
  has: (key: string) => boolean
}

export const createKeySet = (keys: Iterable<string> = []): KeySet => {
  const names = new Set<string>()
  const flatNames = new Set<string>()
  const whole = new Set<string>()
  const beginnings = new Set<string>()
  const set: KeySet = {
    add: key => {
      const all = beginningsOf(key)
      names.add(nameOf(key))
      flatNames.add(flatNameOf(key))
      whole.add(all.at(-1) ?? '')
      for (const beginning of all) beginnings.add(beginning)
    },
    has: key => {
      if (flatNames.has(flatNameOf(key))) return true
      // Most keys have a name of their own. A value may have a hundred thousand keys.
      if (!names.has(nameOf(key))) return false
      const all = beginningsOf(key)
      return beginnings.has(all.at(-1) ?? '') || all.some(beginning => whole.has(beginning))
    },
  }
  for (const key of keys) set.add(key)
  return set
}

/** Decodes a key of a query, form or cookie. Returns text with invalid escapes unchanged. */
export const decodeKey = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** Returns the decoded keys that are written out in a list, such as `a=1&b={{x}}`. */
export const fixedKeys = (holed: string, separator: string | RegExp): readonly string[] =>
  holed.split(separator).flatMap(pair => {
    const [key = ''] = pair.split('=', 1)
    return key.trim() === '' || key.includes(HOLE) ? [] : [decodeKey(key.trim())]
  })
