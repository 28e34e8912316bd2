import { RE2JS, RE2JSException } from 're2js'
import { failure, type Result, success } from '../kernel/result.ts'
import type { Matcher, Span } from './matcher.ts'

export type RegexOptions = { caseInsensitive: boolean }

/** Maximum instructions of a compiled pattern. Without a DFA the time per character grows with them. */
const MAX_PROGRAM_SIZE = 1_000

const LOOKAROUND = /(?<!\\)(?:\\\\)*\(\?(?:<?[=!])/
const BACKREFERENCE = /(?<!\\)(?:\\\\)*\\(?:[1-9]|k<|k\{|g\{)/
const POSSESSIVE = /(?<!\\)(?:\\\\)*(?:[*+?}]\+|\(\?>)/

/** Explains which unsupported feature a pattern uses. Returns undefined if the pattern only has a syntax error. */
const explainUnsupported = (pattern: string): string | undefined => {
  if (LOOKAROUND.test(pattern)) {
    return 'Lookaheads and lookbehinds are not supported, as every pattern is matched in linear time (RE2): match the surrounding text as well, or search twice.'
  }
  if (BACKREFERENCE.test(pattern)) {
    return 'Backreferences are not supported, as every pattern is matched in linear time (RE2): write out what is repeated.'
  }
  if (POSSESSIVE.test(pattern)) {
    return 'Possessive quantifiers and atomic groups are not supported, and not needed: every pattern is matched in linear time (RE2).'
  }
  return undefined
}

const explain = (pattern: string, error: RE2JSException): string => {
  // The library's message includes the flags in front of the pattern.
  const reason = error.message.replace(/^error parsing regexp: /, '').replace(/`\(\?[im]+\)/, '`')
  return (
    explainUnsupported(pattern) ??
    `The pattern is not a valid regular expression (RE2): ${reason}. To search for it literally, use mode "text".`
  )
}

const compile = (pattern: string, caseInsensitive: boolean): RE2JS => {
  const flags = RE2JS.MULTILINE | (caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0)
  return RE2JS.compile(RE2JS.translateRegExp(pattern), flags)
}

/**
 * Compiles a regular expression in RE2 syntax, which matches in linear time. `^` and `$` match at line boundaries; `.`
 * matches any character except a line break. The error is a full sentence.
 */
export const parseRegex = (pattern: string, { caseInsensitive }: RegexOptions): Result<Matcher, string> => {
  let regex: RE2JS
  try {
    regex = compile(pattern, caseInsensitive)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    return failure(explain(pattern, error))
  }
  const weight = regex.programSize()
  if (weight > MAX_PROGRAM_SIZE) return failure('The pattern is too large. Use fewer repetitions or a shorter pattern.')
  const find = (text: string, limit: number): readonly Span[] => {
    const spans: Span[] = []
    const matcher = regex.matcher(text)
    while (spans.length < limit && matcher.find()) spans.push({ start: matcher.start(), end: matcher.end() })
    return spans
  }
  return success({ test: text => regex.test(text), find, weight })
}
