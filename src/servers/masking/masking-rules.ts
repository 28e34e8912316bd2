import { z } from 'zod'
import { formatCount } from '../../lib/kernel/format.ts'
import { BUILT_IN_KINDS, type MaskingRule, parseMaskingPattern } from './masking-rule.ts'

const MAX_PATTERNS = 20
const MAX_PATTERN_CHARACTERS = 1_000
/** Maximum instructions of all patterns of a server. With so many, the slowest text takes 40 ms for each KiB. */
const MAX_WEIGHT = 1_000

/** A text in which patterns that match nothing, such as `x*`, find an empty match. */
const ANY_TEXT = 'a b'

const explainPattern = (pattern: string): string | undefined => {
  const parsed = parseMaskingPattern(pattern)
  if (!parsed.ok) return parsed.error
  const { find } = parsed.value
  return [...find('', 1), ...find(ANY_TEXT, 1)].some(({ start, end }) => start === end)
    ? 'The pattern also matches an empty text. Use + instead of *, or {1,9} instead of {0,9}.'
    : undefined
}

const pattern = z
  .string()
  .min(1, 'is empty')
  .max(MAX_PATTERN_CHARACTERS, `is longer than ${formatCount(MAX_PATTERN_CHARACTERS, 'character')}`)
  .superRefine((text, context) => {
    const message = text === '' ? undefined : explainPattern(text)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })

const rule = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(BUILT_IN_KINDS) }),
  z.strictObject({
    kind: z.literal('pattern'),
    pattern: pattern.describe('a regular expression (RE2), which matches in linear time; case-sensitive without (?i)'),
  }),
])

const weightOf = (rules: readonly MaskingRule[]): number => {
  let weight = 0
  for (const one of rules) {
    const parsed = one.kind === 'pattern' ? parseMaskingPattern(one.pattern) : undefined
    if (parsed?.ok) weight += parsed.value.weight
  }
  return weight
}

const keyOf = (one: MaskingRule): string => (one.kind === 'pattern' ? `pattern ${one.pattern}` : one.kind)

export const maskingRules = z
  .array(rule)
  .max(MAX_PATTERNS + BUILT_IN_KINDS.length, `has more than ${MAX_PATTERNS} patterns`)
  .superRefine((rules, context) => {
    const keys = rules.map(keyOf)
    for (const [index, key] of keys.entries()) {
      if (keys.indexOf(key) !== index) {
        context.addIssue({ code: 'custom', path: [index], message: 'is the same as an earlier rule' })
      }
    }
    if (weightOf(rules) > MAX_WEIGHT) {
      context.addIssue({
        code: 'custom',
        message: 'has patterns that are too large together. Use fewer repetitions or fewer patterns.',
      })
    }
  })
  .describe(
    'what is replaced by ••• in results, before they leave, are cached, stored or recorded in the history: email (email addresses), phone (phone numbers), card (payment card numbers), or pattern (what matches a regular expression)',
  )

/** Parses the `masking` column. Throws a ZodError if it does not contain rules: sending results unmasked is no option. */
export const maskingRulesIn = (stored: unknown): readonly MaskingRule[] =>
  stored === null ? [] : storedRules.parse(stored)

const storedRules = z.array(
  z.union([z.object({ kind: z.enum(BUILT_IN_KINDS) }), z.object({ kind: z.literal('pattern'), pattern: z.string() })]),
)
