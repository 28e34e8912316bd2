import type { Matcher } from '../../../lib/search/matcher.ts'
import { type MaskingRule, parseMaskingPattern } from '../../../servers/masking/masking-rule.ts'
import { mergeRanges, type Range } from '../find-secrets.ts'
import { findCards } from './find-cards.ts'
import { findEmails } from './find-emails.ts'
import { findPhones } from './find-phones.ts'

/** Finds what rules match in a text. `name` is the member of JSON whose value the text is, if it is known. */
export type FindMatches = (text: string, name?: string) => Range[]

export type RuleSearch = {
  find: FindMatches
  /** Maximum steps per character of a text. */
  weight: number
}

/** Steps of a built-in rule per character, as measured against patterns. */
const BUILT_IN_WEIGHT = 5

const BUILT_IN: Readonly<Record<Exclude<MaskingRule['kind'], 'pattern'>, FindMatches>> = {
  email: findEmails,
  phone: findPhones,
  card: findCards,
}

const findAll = ({ test, find }: Matcher, text: string): Range[] => {
  // Locating matches takes many times as long as the test.
  if (!test(text)) return []
  const spans = find(text, Number.POSITIVE_INFINITY)
  return spans.flatMap(({ start, end }): Range[] => (start < end ? [[start, end]] : []))
}

const toFind = (rule: MaskingRule): { find: FindMatches; weight: number } => {
  if (rule.kind !== 'pattern') return { find: BUILT_IN[rule.kind], weight: BUILT_IN_WEIGHT }
  const parsed = parseMaskingPattern(rule.pattern)
  if (!parsed.ok) throw new Error(`a stored masking pattern does not compile: ${parsed.error}`)
  const matcher = parsed.value
  return { find: text => findAll(matcher, text), weight: matcher.weight }
}

/** Compiles rules. Throws an Error if a pattern does not compile. */
export const createRuleSearch = (rules: readonly MaskingRule[]): RuleSearch => {
  const searches = rules.map(toFind)
  return {
    find: (text, name) =>
      searches.reduce<Range[]>((ranges, { find }) => {
        const found = find(text, name)
        return ranges.length === 0 ? found : found.length === 0 ? ranges : mergeRanges(ranges, found)
      }, []),
    weight: searches.reduce((sum, { weight }) => sum + weight, 0),
  }
}
