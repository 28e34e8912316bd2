import { parseRegex } from '../../lib/search/regex.ts'

/** Kinds of text that Patchbay recognizes by itself. */
export const BUILT_IN_KINDS = ['email', 'phone', 'card'] as const
export type BuiltInKind = (typeof BUILT_IN_KINDS)[number]

/** What is masked in the results of a server: a kind of text, or what matches a pattern (RE2). */
export type MaskingRule = { kind: BuiltInKind } | { kind: 'pattern'; pattern: string }

/** Compiles the pattern of a rule. The error is a sentence. */
export const parseMaskingPattern = (pattern: string) => parseRegex(pattern, { caseInsensitive: false })
