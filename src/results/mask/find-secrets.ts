import { once } from '../../lib/kernel/once.ts'
import { createPrefixTable } from './prefix-table.ts'
import { base64Cores, spellingsOf } from './spellings.ts'

/** Start and end of a secret in a string, in UTF-16 units. The end is exclusive. */
export type Range = readonly [start: number, end: number]

/** Finds all secrets in a string. The ranges are sorted and do not overlap. */
export type FindSecrets = (text: string) => Range[]

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

/** Returns a character's spellings. Each character has one such function, which can be compared in its place. */
type Letter = () => readonly string[]

/**
 * Secrets with the same beginning, as a slice of the sorted secrets. The beginning has `depth` characters and ends at
 * `at` in the text.
 */
type Candidates = { from: number; to: number; at: number; depth: number }

/** Returns whether the text continues with a spelling. Most spellings differ in their first unit. */
const continues = (text: string, at: number, spelling: string): boolean =>
  text.charCodeAt(at) === spelling.charCodeAt(0) && (spelling.length === 1 || text.startsWith(spelling, at))

/**
 * Creates a function that finds the secrets in all spellings. A table tells where a secret may start. From there, all
 * secrets with the same beginning are compared together, so the time does not depend on their number. Mixed spellings
 * are found, too.
 */
export const createSecretFinder = (secrets: readonly string[]): FindSecrets => {
  const letters = new Map<string, Letter>()
  const letterOf = (char: string): Letter => {
    const known = letters.get(char)
    if (known !== undefined) return known
    // Computed on first use: a secret may have thousands of different characters, and most are never compared.
    const letter = once(() => spellingsOf(char))
    letters.set(char, letter)
    return letter
  }
  const sorted = [...new Set(secrets.flatMap(secret => [secret, ...base64Cores(secret)]))]
    .sort()
    .map(text => [...text].map(letterOf))
  const mayStartAt = createPrefixTable(sorted)

  /** Returns the end of the run of secrets, starting at `from`, that have the same character at `depth`. */
  const endOfAlike = (from: number, to: number, depth: number): number => {
    const letter = sorted[from]?.[depth]
    if (sorted[to - 1]?.[depth] === letter) return to
    let end = from + 1
    while (sorted[end]?.[depth] === letter) end += 1
    return end
  }

  /** Secrets keyed by the first UTF-16 unit of each spelling of their first character. */
  const starts = new Map<number, Pick<Candidates, 'from' | 'to'>[]>()
  for (let from = 0; from < sorted.length; ) {
    const to = endOfAlike(from, sorted.length, 0)
    const units = new Set(sorted[from]?.[0]?.().map(spelling => spelling.charCodeAt(0)))
    for (const unit of units) starts.set(unit, [...(starts.get(unit) ?? []), { from, to }])
    from = to
  }

  return text => {
    let comparisons = FREE_COMPARISONS + COMPARISONS_PER_CHARACTER * text.length

    /** Divides candidates by their next character, and adds those that match the text to `waiting`. */
    const divide = ({ from, to, at, depth }: Candidates, waiting: Candidates[]): void => {
      for (let first = from; first < to; ) {
        const end = endOfAlike(first, to, depth)
        const spellings = sorted[first]?.[depth]?.() ?? []
        comparisons -= spellings.length + end - first
        if (spellings.some(spelling => continues(text, at, spelling))) waiting.push({ from: first, to: end, at, depth })
        first = end
      }
    }

    /**
     * Returns the end of the longest of these secrets that the text contains, or -1. Adds those that it must also look
     * at, because they differ or because several spellings match, to `waiting`.
     */
    const follow = ({ from, to, at, depth }: Candidates, waiting: Candidates[]): number => {
      for (let end = -1; ; depth++) {
        // Among secrets with the same beginning, the shortest comes first.
        if (sorted[from]?.length === depth) {
          end = at
          from += 1
        }
        if (from >= to || comparisons < 0) return end
        const letter = sorted[from]?.[depth]
        if (letter === undefined || sorted[to - 1]?.[depth] !== letter) {
          divide({ from, to, at, depth }, waiting)
          return end
        }
        const spellings = letter()
        comparisons -= spellings.length
        let next = -1
        for (const spelling of spellings) {
          if (!continues(text, at, spelling)) continue
          if (next !== -1) waiting.push({ from, to, at: next, depth: depth + 1 })
          next = at + spelling.length
        }
        if (next === -1) return end
        at = next
      }
    }

    /** Returns the end of the longest secret that starts at `start`, or -1 if none does. */
    const endOf = (start: number): number => {
      let end = -1
      const waiting = (starts.get(text.charCodeAt(start)) ?? []).map(range => ({ ...range, at: start, depth: 0 }))
      for (let next = waiting.pop(); next !== undefined && comparisons >= 0; next = waiting.pop()) {
        end = Math.max(end, follow(next, waiting))
      }
      return end
    }

    const ranges: [number, number][] = []
    for (let index = mayStartAt(text, 0); index !== -1; index = mayStartAt(text, index + 1)) {
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
