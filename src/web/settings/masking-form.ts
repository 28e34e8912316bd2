import type { z } from 'zod'
import { formFlag, formLines, formText } from '../../lib/http/pages/forms.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { BUILT_IN_KINDS, type BuiltInKind, type MaskingRule } from '../../servers/masking/masking-rule.ts'
import { maskingRules } from '../../servers/masking/masking-rules.ts'

/** The form of the masking rules. `patterns` has one pattern per line. `step` is `try` to try them on the sample. */
export const MaskingForm = {
  email: formFlag,
  phone: formFlag,
  card: formFlag,
  patterns: formLines,
  sample: formLines,
  step: formText,
  version: formText,
}
export type TypedMasking = z.output<z.ZodObject<typeof MaskingForm>>

export const MASKING_LABELS = { patterns: 'patterns', sample: 'sample text' }

/** Label and hint of each built-in rule. */
export const KIND_TEXTS: Readonly<Record<BuiltInKind, { text: string; hint: string }>> = {
  email: { text: 'Email addresses', hint: 'Such as ada@example.com, also where a URL writes %40 instead of @.' },
  phone: {
    text: 'Phone numbers',
    hint: 'International numbers (+49 30 123456), and national ones with separators, such as (415) 555-2671. Digits alone only after a label, or in a JSON field such as phone.',
  },
  card: {
    text: 'Payment card numbers',
    hint: 'Numbers of 13 to 19 digits that begin and end as cards do: the check digit must be right.',
  },
}

const SAMPLE_CHARACTERS = 20_000

const wrongField = (path: string, message: string): AppError =>
  new AppError('invalid_request', `The ${path} ${message}.`, { errors: [{ path, message }] })

/** Returns the lines with a pattern, and their numbers. White space at the ends of a line belongs to its pattern. */
const linesOf = (patterns: string) =>
  patterns.split('\n').flatMap((pattern, index) => (pattern.trim() === '' ? [] : [{ pattern, line: index + 1 }]))

/** Reads the rules. Throws `invalid_request` if a pattern is invalid, and names its line. */
export const readMasking = (typed: TypedMasking): MaskingRule[] => {
  const kinds = BUILT_IN_KINDS.filter(kind => typed[kind])
  const lines = linesOf(typed.patterns)
  const rules = [
    ...kinds.map(kind => ({ kind })),
    ...lines.map(({ pattern }) => ({ kind: 'pattern' as const, pattern })),
  ]
  const parsed = maskingRules.safeParse(rules)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const [index] = issue?.path ?? []
  const line = typeof index === 'number' ? lines[index - kinds.length]?.line : undefined
  const message = issue?.message.replace(/\.$/, '') ?? 'cannot be read'
  throw wrongField('patterns', line === undefined ? message : `have an error in line ${line}: ${message}`)
}

/** Returns the sample text. Throws `invalid_request` if it is too long. */
export const readSample = ({ sample }: TypedMasking): string => {
  if (sample.length > SAMPLE_CHARACTERS) throw wrongField('sample', 'is longer than 20,000 characters')
  return sample
}

/** Returns the saved rules as the form shows them. */
export const typedMaskingOf = (masking: readonly MaskingRule[]): Omit<TypedMasking, 'step' | 'version'> => {
  const has = (kind: BuiltInKind): boolean => masking.some(rule => rule.kind === kind)
  const patterns = masking.flatMap(rule => (rule.kind === 'pattern' ? [rule.pattern] : []))
  return { email: has('email'), phone: has('phone'), card: has('card'), patterns: patterns.join('\n'), sample: '' }
}

/** Describes rules in a sentence, such as `Masked in addition to secrets: email addresses.` */
export const describeMasking = (masking: readonly MaskingRule[]): string => {
  const kinds = masking.flatMap(rule => (rule.kind === 'pattern' ? [] : [KIND_TEXTS[rule.kind].text.toLowerCase()]))
  const patterns = masking.length - kinds.length
  const parts =
    patterns === 0 ? kinds : [...kinds, patterns === 1 ? 'what matches a pattern' : `what matches ${patterns} patterns`]
  if (parts.length === 0) return 'Only secrets are masked.'
  const listed = new Intl.ListFormat('en', { type: 'conjunction' }).format(parts)
  return `Masked in addition to secrets: ${listed}.`
}
