import { parseRegex } from '../../lib/search/regex.ts'

/** Kinds of text that Patchbay recognizes by itself. */
export const BUILT_IN_KINDS = ['email', 'phone', 'card'] as const
export type BuiltInKind = (typeof BUILT_IN_KINDS)[number]

/** A rule that masks texts in the results of a server: those of a kind, or those that a pattern (RE2) matches. */
export type MaskingRule = { kind: BuiltInKind } | { kind: 'pattern'; pattern: string }

/** Compiles the pattern of a rule. The error is a sentence. */
export const parseMaskingPattern = (pattern: string) => parseRegex(pattern, { caseInsensitive: false })
