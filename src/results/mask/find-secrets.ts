import { escapeForRegExp } from '../../lib/search/substring.ts'
import { base64Cores, spellingsOf } from './spellings.ts'

/** Start and end of a secret in a string, in UTF-16 units. The end is exclusive. */
export type Range = readonly [start: number, end: number]

/** Finds all secrets in a string. The ranges are sorted and do not overlap. */
export type FindSecrets = (text: string) => Range[]

/** How many characters of a secret the pattern looks for, and how many of these may have several spellings. */
const ANCHOR_CHARACTERS = 4
const ANCHOR_SPELLED = 2

/**
 * Maximum number of comparisons per string. A string that repeats the beginning of a secret thousands of times needs
 * more. The rest of it then counts as secret, which keeps the time proportional to its length.
 */
const FREE_COMPARISONS = 100_000
const COMPARISONS_PER_CHARACTER = 32

/** Adds a range that starts at or after all others. Merges it with the last one if they touch. */
const addRange = (ranges: [number, number][], start: number, end: number): void => {
  const last = ranges.at(-1)
  if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end)
  else ranges.push([start, end])
}

/** Merges the results of two searches of the same string. */
export const mergeRanges = (some: readonly Range[], others: readonly Range[]): Range[] => {
  const merged: [number, number][] = []
  for (const [start, end] of [...some, ...others].sort(([a], [b]) => a - b)) addRange(merged, start, end)
  return merged
}

/** Secrets with the same beginning, as a slice of the sorted secrets, and where that beginning ends in the text. */
type Candidates = { from: number; to: number; at: number }

/**
 * Creates a function that finds the secrets in all spellings. A pattern finds where a secret may start. From there, all
 * secrets with the same beginning are compared together, so the time does not depend on their number. Mixed spellings
 * are found, too.
 */
export const createSecretFinder = (secrets: readonly string[]): FindSecrets => {
  const known = new Map<string, readonly string[]>()
  const spell = (char: string): readonly string[] => {
    const spellings = known.get(char) ?? spellingsOf(char)
    known.set(char, spellings)
    return spellings
  }
  const sorted = [...new Set(secrets.flatMap(secret => [secret, ...base64Cores(secret)]))].sort().map(text => [...text])

  const anchorOf = (secret: readonly string[]): string => {
    let spelled = 0
    const anchor = secret.slice(0, ANCHOR_CHARACTERS).filter(char => {
      if (spelled === ANCHOR_SPELLED) return false
      if (spell(char).length > 1) spelled += 1
      return true
    })
    return anchor.map(char => `(?:${spell(char).map(escapeForRegExp).join('|')})`).join('')
  }
  const pattern = new RegExp(`(?=${[...new Set(sorted.map(anchorOf))].join('|')})`, 'g')

  /** Returns the end of the run of secrets, starting at `from`, that have the same character at `depth`. */
  const endOfAlike = (from: number, to: number, depth: number): number => {
    const char = sorted[from]?.[depth]
    if (sorted[to - 1]?.[depth] === char) return to
    let end = from + 1
    while (sorted[end]?.[depth] === char) end += 1
    return end
  }

  /** Secrets keyed by the first UTF-16 unit of each spelling of their first character. */
  const starts = new Map<string, Omit<Candidates, 'at'>[]>()
  for (let from = 0; from < sorted.length; ) {
    const to = endOfAlike(from, sorted.length, 0)
    const units = new Set(spell(sorted[from]?.[0] ?? '').map(spelling => spelling.charAt(0)))
    for (const unit of units) starts.set(unit, [...(starts.get(unit) ?? []), { from, to }])
    from = to
  }

  return text => {
    let comparisons = FREE_COMPARISONS + COMPARISONS_PER_CHARACTER * text.length

    /** Returns the candidates that match the next character of the text. */
    const advance = ({ from, to, at }: Candidates, depth: number): Candidates[] => {
      const next: Candidates[] = []
      for (let first = from; first < to; ) {
        const char = sorted[first]?.[depth]
        const end = endOfAlike(first, to, depth)
        if (char !== undefined) {
          const spellings = spell(char)
          // If all candidates share this character, they are matched as one group: only its spellings are compared.
          comparisons -= spellings.length + (end === to ? 0 : end - first)
          for (const spelling of spellings) {
            if (text.startsWith(spelling, at)) next.push({ from: first, to: end, at: at + spelling.length })
          }
        }
        first = end
      }
      return next
    }

    /** Returns the end of the longest secret that starts at `start`, or -1 if none does. */
    const endOf = (start: number): number => {
      let end = -1
      let candidates = (starts.get(text.charAt(start)) ?? []).map(range => ({ ...range, at: start }))
      for (let depth = 0; candidates.length > 0 && comparisons >= 0; depth++) {
        // Among secrets with the same beginning, the shortest comes first.
        for (const { from, at } of candidates) if (sorted[from]?.length === depth) end = Math.max(end, at)
        candidates = candidates.flatMap(alike => advance(alike, depth))
      }
      return end
    }

    const ranges: [number, number][] = []
    pattern.lastIndex = 0
    for (let hit = pattern.exec(text); hit !== null; hit = pattern.exec(text)) {
      const { index } = hit
      pattern.lastIndex = index + 1
      const end = endOf(index)
      if (comparisons < 0) {
        addRange(ranges, index, text.length)
        break
      }
      if (end > index) addRange(ranges, index, end)
    }
    return ranges
  }
}
