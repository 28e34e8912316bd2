import { failure, type Result, success } from '../kernel/result.ts'
import type { Matcher } from './matcher.ts'
import { MAX_TOP_K, type SearchMode } from './params.ts'
import { parseRegex } from './regex.ts'
import { substringMatcher } from './substring.ts'

/** The validated parameters of a search, with defaults. */
export type Query = {
  pattern: string
  mode: SearchMode
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

const format = (count: number): string => count.toLocaleString('en')

/** Returns a note if not all matches are shown. */
export const describeCount = (total: number, shown: number, what: string, isAtLeast = false): readonly string[] => {
  if (shown >= total) return []
  const most = shown < MAX_TOP_K ? ' top_k shows more;' : ''
  return [
    `${isAtLeast ? 'At least ' : ''}${format(total)} ${what}, of which ${format(shown)} are shown:${most} a narrower pattern or fields find fewer.`,
  ]
}

/** Returns notes about what may be missing, and what helps. */
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
