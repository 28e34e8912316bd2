import { distance } from 'fastest-levenshtein'
import { failure, type Result, success } from '../kernel/result.ts'
import type { Span } from './matcher.ts'
import { wordSpansOf } from './split-words.ts'

/** The part of a text most similar to a pattern. It has as many words as the pattern, or one more or fewer. */
export type Near = { readonly span: Span; readonly distance: number }
export type NearFinder = { readonly maxDistance: number; find: (text: string) => Near | undefined }

/** Pattern letters per allowed typo, after a first one. Two swapped letters count as two typos. */
const CHARS_PER_TYPO = 4
/** A longer pattern is not a misspelled word, and the time grows with the length of the pattern. */
const MAX_PATTERN_CHARS = 200
/** Maximum cached distances. Caching pays off because words recur in texts. */
const MAX_CACHED = 100_000

const normalize = (text: string): string => text.normalize('NFC').toLowerCase()

/** Returns a function that measures the edit distance to the pattern, ignoring case. */
const createDistance = (pattern: string) => {
  const known = new Map<string, number>()
  return (text: string): number => {
    const measured = known.get(text)
    if (measured !== undefined) return measured
    const edits = distance(pattern, normalize(text))
    if (known.size < MAX_CACHED) known.set(text, edits)
    return edits
  }
}

/** Returns a finder of approximate matches. By default, one error per four letters is allowed, plus one. */
export const parseFuzzy = (pattern: string, wantedDistance: number | undefined): Result<NearFinder, string> => {
  const normal = normalize(pattern.trim())
  const words = wordSpansOf(normal).length
  if (words === 0) return failure('Mode "fuzzy" compares words, and the pattern has none: use mode "text".')
  if (normal.length > MAX_PATTERN_CHARS) {
    return failure(`The pattern is too long for mode "fuzzy": at most ${MAX_PATTERN_CHARS} characters.`)
  }
  const maxDistance = wantedDistance ?? 1 + Math.floor(normal.length / CHARS_PER_TYPO)
  const counts = [words, words + 1, words - 1].filter(count => count > 0)
  const measure = createDistance(normal)

  const find = (text: string): Near | undefined => {
    const spans = wordSpansOf(text)
    let best: Near | undefined
    for (let first = 0; first < spans.length; first++) {
      for (const count of counts) {
        const start = spans[first]?.start
        const end = spans[first + count - 1]?.end
        if (start === undefined || end === undefined) continue
        if (Math.abs(end - start - normal.length) > maxDistance) continue
        const edits = measure(text.slice(start, end))
        if (edits <= maxDistance && edits < (best?.distance ?? Number.POSITIVE_INFINITY)) {
          best = { span: { start, end }, distance: edits }
        }
      }
    }
    return best
  }
  return success({ maxDistance, find })
}
