import { failure, type Result, success } from '../kernel/result.ts'
import type { Matcher } from './matcher.ts'
import { MAX_TOP_K, type SearchMode } from './params.ts'
import { parseRegex } from './regex.ts'
import { substringMatcher } from './substring.ts'

/** Parameters that are checked and whole. */
export type Look = {
  pattern: string
  mode: SearchMode
  topK: number
  contextLines: number | undefined
  multiline: boolean
  caseInsensitive: boolean
  maxDistance: number | undefined
  isLate: () => boolean
}

/** What a pattern of a mode that finds matches is looked for with. Around matches, what is no regular expression is a text. */
export const createMatcher = (look: Look): Result<{ matcher: Matcher; notes: readonly string[] }, string> => {
  const asText = () => substringMatcher(look.pattern, look)
  if (look.mode === 'text') return success({ matcher: asText(), notes: [] })
  const regex = parseRegex(look.pattern, look)
  if (regex.ok) return success({ matcher: regex.value, notes: [] })
  if (look.mode !== 'context') return failure(regex.error)
  return success({
    matcher: asText(),
    notes: ['The pattern is no regular expression, and was searched as it is written.'],
  })
}

const format = (count: number): string => count.toLocaleString('en')

/** How many there are, and that not all of them are shown. */
export const describeCount = (total: number, shown: number, what: string, isAtLeast = false): readonly string[] => {
  if (shown >= total) return []
  const most = shown < MAX_TOP_K ? ' top_k shows more;' : ''
  return [
    `${isAtLeast ? 'At least ' : ''}${format(total)} ${what}, and ${format(shown)} of them are shown:${most} a narrower pattern or fields find fewer.`,
  ]
}

/** What may be missing of what was found, and what helps. */
export const describeGaps = ({
  isPartial,
  isInPieces,
}: {
  isPartial: boolean
  isInPieces?: boolean
}): readonly string[] => [
  ...(isPartial
    ? ['The search took too long and was stopped: there may be more. A simpler pattern, or fields, are faster.']
    : []),
  ...(isInPieces === true
    ? [
        'The pattern is costly and the text long, so it was searched in pieces: a match of more than 2,000 characters may be missing.',
      ]
    : []),
]
