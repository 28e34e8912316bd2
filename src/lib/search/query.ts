import { shorten } from '../json/cut-text.ts'
import { formatAmount } from '../json/format-counts.ts'
import type { Path } from '../json/path.ts'
import { formatNumber } from '../kernel/format.ts'
import { failure, type Result, success } from '../kernel/result.ts'
import { findHits } from './find-hits.ts'
import type { Matcher } from './matcher.ts'
import { parseRegex } from './regex.ts'
import { splitWords } from './split-words.ts'
import { substringMatcher } from './substring.ts'

export const SEARCH_MODES = ['regex', 'bm25', 'fuzzy', 'context', 'text'] as const
type SearchMode = (typeof SEARCH_MODES)[number]

/** The parameters of a search, within the limits below. */
export type SearchParams = {
  /** The pattern, of at most MAX_PATTERN_CHARS. The search runs only if a pattern is set. */
  pattern?: string | undefined
  /** By default `text`. */
  mode?: SearchMode | undefined
  /** Limits the search to paths such as `users[].name`. Without any, everything is searched. */
  fields?: readonly string[] | undefined
  /** Fields to show of the record around each match, relative to the record, instead of the match alone. */
  show?: readonly string[] | undefined
  /**
   * Number of matches to show, the best or the first ones. Defaults to DEFAULT_TOP_K, or to BEST_TOP_K in mode `bm25`, with
   * a maximum of MAX_TOP_K.
   */
  topK?: number | undefined
  /** Number of lines, neighbors or sentences to show on either side of a match, at most MAX_CONTEXT_LINES. */
  contextLines?: number | undefined
  /** Whether a match may span several lines. */
  multiline?: boolean | undefined
  caseInsensitive?: boolean | undefined
  /**
   * Number of letters that may differ in mode `fuzzy`. Defaults to about a quarter of the letters, with a maximum of
   * MAX_DISTANCE.
   */
  maxDistance?: number | undefined
}

export const DEFAULT_TOP_K = 10
/** Fewer, because the first ones are the best. */
export const BEST_TOP_K = 5
/** More than any reader needs. The filter step returns whole lists page by page. */
export const MAX_TOP_K = 1_000
export const MAX_CONTEXT_LINES = 50
/** With a larger distance, nearly all short words would match each other. */
export const MAX_DISTANCE = 10
/** Longer than any reasonable pattern. The search time per character grows with the length of the pattern. */
export const MAX_PATTERN_CHARS = 1_000

/** The validated parameters of a search, with defaults applied. */
export type Query = {
  pattern: string
  mode: SearchMode
  fields: readonly Path[]
  show: readonly Path[]
  topK: number
  contextLines: number | undefined
  multiline: boolean
  caseInsensitive: boolean
  maxDistance: number | undefined
  isLate: () => boolean
}

/** Creates the matcher of a query. In mode `context` an invalid regular expression is searched as text. */
export const createMatcher = (query: Query): Result<{ matcher: Matcher; notes: readonly string[] }, string> => {
  const asText = () => substringMatcher(query.pattern, query)
  if (query.mode === 'text') return success({ matcher: asText(), notes: [] })
  const regex = parseRegex(query.pattern, query)
  if (regex.ok) return success({ matcher: regex.value, notes: [] })
  if (query.mode !== 'context') return failure(regex.error)
  return success({
    matcher: asText(),
    notes: ['The pattern is not a regular expression, so it was searched as text.'],
  })
}

export const describeCount = (total: number, shown: number, what: string, isAtLeast = false): readonly string[] => {
  if (shown >= total) return []
  const most = shown < MAX_TOP_K ? ' top_k shows more;' : ''
  return [
    `${isAtLeast ? 'At least ' : ''}${formatNumber(total)} ${what}, of which ${formatNumber(shown)} are shown:${most} a narrower pattern or fields find fewer.`,
  ]
}

const MAX_QUOTED_CHARS = 80

/**
 * Returns a sentence that says that nothing matches. `amount` is the number of values or lines that were searched, and
 * `where` continues the sentence.
 */
export const describeNoMatch = (pattern: string, amount: number, what: string, where = ''): string =>
  `Nothing matches "${shorten(pattern, MAX_QUOTED_CHARS)}" in ${formatAmount(amount, amount, what)}${where}.`

/** Returns a note if some of the texts match when case is ignored. `what` names the texts: values or lines. */
export const hintCase = (texts: readonly string[], what: string, query: Query): readonly string[] => {
  if (query.caseInsensitive) return []
  const parsed = createMatcher({ ...query, caseInsensitive: true })
  if (!parsed.ok) return []
  const { multiline, isLate } = query
  const { total } = findHits(texts, parsed.value.matcher, { multiline, eachMatch: false, isLate })
  return total === 0 ? [] : [`${what} that match with case_insensitive: ${formatNumber(total)}.`]
}

/** Matches what is common in regular expressions and rare in other text. */
const LIKE_REGEX = /\\[dwsbDWSB.]|[.)\]][*+?]|\[[^\]]+\]|\(\?|^\^|\$$|\w\|\w/

/** Returns a note if the pattern was searched as text but looks like a regular expression. */
export const hintRegex = (texts: readonly string[], what: string, query: Query): readonly string[] => {
  if (query.mode !== 'text' || !LIKE_REGEX.test(query.pattern)) return []
  const parsed = parseRegex(query.pattern, query)
  if (!parsed.ok) return []
  const { multiline, isLate } = query
  const { total } = findHits(texts, parsed.value, { multiline, eachMatch: false, isLate })
  return [`The pattern looks like a regular expression. ${what} that match with mode "regex": ${formatNumber(total)}.`]
}

/** Matches the parts of a regular expression whose letters and digits are not those of a text. */
const REGEX_SIGNS = /\\[pPx]\{[^}]*\}|\\.|\[[^\]]*\]|\{[\d,]*\}|\(\?(?:P?<[^>]*>|[\w-]*[:)])/gs
/** Minimum characters of a word in a regular expression. Shorter runs of letters are mostly parts of words. */
const MIN_REGEX_WORD_CHARS = 3

/** Returns a note if the pattern has several words, which may occur apart from each other. Not for mode `bm25` or `fuzzy`. */
export const hintWords = ({ mode, pattern }: Query): readonly string[] => {
  const words =
    mode === 'text'
      ? splitWords(pattern)
      : splitWords(pattern.replaceAll(REGEX_SIGNS, ' ')).filter(({ length }) => length >= MIN_REGEX_WORD_CHARS)
  return words.length > 1 ? ['Mode "bm25" finds words in any order and place.'] : []
}

/** Returns a note for each word that does not occur, with its replacements. */
export const describeReplacements = (replacements: ReadonlyMap<string, readonly string[]>): readonly string[] =>
  Array.from(replacements, ([word, others]) => `Nothing contains "${word}"; searched for ${others.join(', ')} instead.`)

/** Maximum characters of all matches together, which is more than a model reads at once. */
const MAX_RESULTS_CHARS = 200_000

/** Returns the first matches that fit together, but at least one. */
export const takeFitting = <T>(matches: Iterable<T>, charsOf: (match: T) => number): T[] => {
  const taken: T[] = []
  let chars = 0
  for (const match of matches) {
    chars += charsOf(match)
    if (chars > MAX_RESULTS_CHARS && taken.length > 0) break
    taken.push(match)
  }
  return taken
}

/** Returns notes on matches that may be missing, and how to find them. */
export const describeGaps = ({
  isPartial,
  isInPieces,
}: {
  isPartial: boolean
  isInPieces?: boolean
}): readonly string[] => [
  ...(isPartial
    ? ['The search took too long and was stopped: there may be more matches. A simpler pattern or fields are faster.']
    : []),
  ...(isInPieces === true
    ? [
        'The pattern is costly and the text long, so it was searched in pieces: a match of more than 2,000 characters may be missing.',
      ]
    : []),
]
