/** Number of UTF-16 units that tell whether a secret may start at a position. */
const PREFIX_UNITS = 3

/** Entries per prefix. With so many, few positions of a text match by chance. */
const ENTRIES_PER_PREFIX = 64
const MIN_ENTRIES = 1_024
/** 256 KiB. With more entries, the table no longer fits into the caches of a core. */
const MAX_ENTRIES = 256 * 1_024

/** Entries for the first unit of a prefix. Most texts use few different units. */
const FIRST_UNITS = 1_024
/** The first unit of a prefix, and of a secret that is shorter than a prefix. */
const STARTS_PREFIX = 1
const IS_SHORT = 2

const hashOf = (first: number, second: number, third: number): number =>
  Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b) ^ Math.imul(third, 0xc2b2ae35)

/** A text, as functions that return the spellings of each of its characters. */
type SpelledText = readonly (() => readonly string[])[]

/** Adds the first units of every spelling of a secret. Those of a shorter secret are all of its units. */
const addPrefixes = (secret: SpelledText, prefixes: Set<string>, at = 0, before = ''): void => {
  const spellings = secret[at]
  if (before.length >= PREFIX_UNITS || spellings === undefined) prefixes.add(before.slice(0, PREFIX_UNITS))
  else for (const spelling of spellings()) addPrefixes(secret, prefixes, at + 1, before + spelling)
}

/**
 * Creates a function that returns the next position, starting at `from`, where a secret may start in any spelling, or -1.
 * A regular expression with an alternative per secret would try all of them at each position.
 */
export const createPrefixTable = (secrets: readonly SpelledText[]): ((text: string, from: number) => number) => {
  const prefixes = new Set<string>()
  for (const secret of secrets) addPrefixes(secret, prefixes)
  const wanted = Math.max(MIN_ENTRIES, prefixes.size * ENTRIES_PER_PREFIX)
  const size = Math.min(MAX_ENTRIES, 2 ** Math.ceil(Math.log2(wanted)))
  const shift = 32 - Math.log2(size)
  const firsts = new Uint8Array(FIRST_UNITS)
  const entries = new Uint8Array(size)
  for (const prefix of prefixes) {
    const first = prefix.charCodeAt(0)
    firsts[first % FIRST_UNITS] =
      (firsts[first % FIRST_UNITS] ?? 0) | (prefix.length < PREFIX_UNITS ? IS_SHORT : STARTS_PREFIX)
    if (prefix.length === PREFIX_UNITS) {
      entries[hashOf(first, prefix.charCodeAt(1), prefix.charCodeAt(2)) >>> shift] = 1
    }
  }

  return (text, from) => {
    const { length } = text
    for (let at = from; at < length; at++) {
      const first = text.charCodeAt(at)
      const kind = firsts[first % FIRST_UNITS] ?? 0
      if (kind === 0) continue
      if ((kind & IS_SHORT) !== 0) return at
      // The prefix of a secret cannot reach beyond the end. A shorter secret may follow.
      if (at + PREFIX_UNITS > length) continue
      if (entries[hashOf(first, text.charCodeAt(at + 1), text.charCodeAt(at + 2)) >>> shift] === 1) return at
    }
    return -1
  }
}
