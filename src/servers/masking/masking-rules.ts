import { z } from 'zod'
import { formatCount } from '../../lib/kernel/format.ts'
import { BUILT_IN_KINDS, type MaskingRule, parseMaskingPattern } from './masking-rule.ts'

const MAX_PATTERNS = 20
const MAX_PATTERN_CHARACTERS = 1_000
/** Maximum instructions of all patterns of a server. With so many, the slowest text takes 40 ms for each KiB. */
const MAX_WEIGHT = 1_000

/** A text in which patterns that match nothing, such as `x*`, find an empty match. */
const ANY_TEXT = 'a b'

type Problem = { path: (string | number)[]; message: string }

/** Returns the weight of a pattern, or why it is refused. */
const weigh = (pattern: string): { weight: number } | { message: string } => {
  const parsed = parseMaskingPattern(pattern)
  if (!parsed.ok) return { message: parsed.error }
  const { find, weight } = parsed.value
  const isEmpty = [...find('', 1), ...find(ANY_TEXT, 1)].some(({ start, end }) => start === end)
  return isEmpty
    ? { message: 'The pattern also matches an empty text. Use + instead of *, or {1,9} instead of {0,9}.' }
    : { weight }
}

const keyOf = (one: MaskingRule): string => (one.kind === 'pattern' ? `pattern ${one.pattern}` : one.kind)

/** Lists what is wrong with rules. Compiles the patterns only if there are not too many. */
const listProblems = (rules: readonly MaskingRule[]): Problem[] => {
  const patterns = rules.filter(({ kind }) => kind === 'pattern')
  if (patterns.length > MAX_PATTERNS) return [{ path: [], message: `has more than ${MAX_PATTERNS} patterns` }]
  const problems: Problem[] = []
  const known = new Set<string>()
  let total = 0
  for (const [index, one] of rules.entries()) {
    const key = keyOf(one)
    if (known.has(key)) problems.push({ path: [index], message: 'is the same as an earlier rule' })
    known.add(key)
    // Patterns of a wrong length are refused by their own schema, and not compiled.
    if (one.kind !== 'pattern' || one.pattern === '' || one.pattern.length > MAX_PATTERN_CHARACTERS) continue
    const weighed = weigh(one.pattern)
    if ('message' in weighed) problems.push({ path: [index, 'pattern'], message: weighed.message })
    else total += weighed.weight
  }
  if (total <= MAX_WEIGHT) return problems
  const message = 'has patterns that are too large together. Use fewer repetitions or fewer patterns.'
  return [...problems, { path: [], message }]
}

const pattern = z
  .string()
  .min(1, 'is empty')
  .max(MAX_PATTERN_CHARACTERS, `is longer than ${formatCount(MAX_PATTERN_CHARACTERS, 'character')}`)
  .describe('a regular expression (RE2), which matches in linear time; case-sensitive without (?i)')

const WHAT =
  'what is replaced by ••• in results, before they leave, are cached, stored or recorded in the history: email (email addresses), phone (phone numbers), card (payment card numbers), or pattern (what matches a regular expression)'

export const maskingRules = z
  .array(
    z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.enum(BUILT_IN_KINDS) }),
      z.strictObject({ kind: z.literal('pattern'), pattern }),
    ]),
  )
  .superRefine((rules, context) => {
    for (const problem of listProblems(rules)) context.addIssue({ code: 'custom', ...problem })
  })
  .describe(WHAT)

const BuiltInView = z.object({ kind: z.enum(BUILT_IN_KINDS) })
const PatternView = z.object({ kind: z.literal('pattern'), pattern: z.string() })

/** Rules as stored and shown. They were checked when they were saved. */
export const maskingRulesView = z.array(z.union([BuiltInView, PatternView])).describe(WHAT)

/** Parses the `masking` column. Throws a ZodError if it does not contain rules: sending results unmasked is no option. */
export const maskingRulesIn = (stored: unknown): readonly MaskingRule[] =>
  stored === null ? [] : maskingRulesView.parse(stored)
