/** Shorter ones occur in nearly every text. */
const MIN_LITERAL_CHARS = 2

const META = new Set('\\^$.|?*+()[]{}')
/** A character before these is optional. */
const MAY_DROP = new Set('?*{')

/** Returns the index after the character class that starts at `at`. */
const skipClass = (pattern: string, at: number): number => {
  let end = at + 1
  if (pattern[end] === '^') end++
  if (pattern[end] === ']') end++
  while (end < pattern.length && pattern[end] !== ']') end += pattern[end] === '\\' ? 2 : 1
  return end + 1
}

/** Returns the index after the group that starts at `at`. */
const skipGroup = (pattern: string, at: number): number => {
  let depth = 0
  for (let end = at; end < pattern.length; ) {
    const char = pattern[end]
    if (char === '\\') end += 2
    else if (char === '[') end = skipClass(pattern, end)
    else {
      if (char === '(') depth++
      if (char === ')') depth--
      end++
      if (depth === 0) return end
    }
  }
  return pattern.length
}

const REPEAT = /\{\d+(?:,\d*)?\}/y

/** Returns the index after the part that starts at `at` and is not a literal. */
const skipPart = (pattern: string, at: number): number => {
  const char = pattern[at]
  if (char === '(') return skipGroup(pattern, at)
  if (char === '[') return skipClass(pattern, at)
  if (char === '\\') return at + 2
  REPEAT.lastIndex = at
  return REPEAT.test(pattern) ? REPEAT.lastIndex : at + 1
}

/** Escapes with more than one character, such as `\x{41}` and `\pL`. */
const LONG_ESCAPE = /[xpPuUcCQ0-7]/

/** An escaped sign means itself; an escaped letter or digit is a class or an assertion. */
const isEscapedSign = (char: string | undefined): char is string => char !== undefined && !/[\p{L}\p{N}]/u.test(char)

/** Maximum literals to search for. */
const MAX_LITERALS = 4

/**
 * Returns the longest literals that every match of a pattern without alternatives contains; undefined if none is certain.
 * Ignores groups and classes, and any pattern with flags.
 */
const literalsOf = (pattern: string): readonly string[] | undefined => {
  const runs: string[] = []
  let run = ''
  const endRun = () => {
    if (run.length >= MIN_LITERAL_CHARS) runs.push(run)
    run = ''
  }
  for (let at = 0; at < pattern.length; ) {
    const char = pattern.charAt(at)
    if (char === '|' || pattern.startsWith('(?', at)) {
      const isPlainGroup = char === '(' && /^\(\?(?::|P?<[A-Za-z_])/.test(pattern.slice(at, at + 5))
      if (!isPlainGroup) return undefined
    }
    const escaped = char === '\\' ? pattern[at + 1] : undefined
    if (escaped !== undefined && LONG_ESCAPE.test(escaped)) return undefined
    const literal = isEscapedSign(escaped) ? escaped : META.has(char) ? undefined : char
    if (literal === undefined) {
      endRun()
      at = skipPart(pattern, at)
      continue
    }
    at += escaped === undefined ? 1 : 2
    const next = pattern.charAt(at)
    if (MAY_DROP.has(next)) {
      endRun()
      continue
    }
    run += literal
    if (next === '+') endRun()
  }
  endRun()
  if (runs.length === 0) return undefined
  return runs.sort((one, other) => other.length - one.length).slice(0, MAX_LITERALS)
}

/** A quantifier after a surrogate pair would split it. Patterns with one are rare. */
const HAS_SURROGATE = /[\uD800-\uDFFF]/

/**
 * Returns lists of texts, one per alternative: every match of the pattern contains all texts of one list, longest first.
 * Undefined if that is not certain. The pattern must be valid.
 */
export const requiredLiterals = (pattern: string): readonly (readonly string[])[] | undefined => {
  if (HAS_SURROGATE.test(pattern)) return undefined
  const alternatives: string[] = []
  let start = 0
  for (let at = 0; at < pattern.length; ) {
    const char = pattern[at]
    if (char === '|') {
      alternatives.push(pattern.slice(start, at))
      start = at + 1
    }
    if (char === '\\') at += 2
    else if (char === '(') at = skipGroup(pattern, at)
    else if (char === '[') at = skipClass(pattern, at)
    else at++
  }
  alternatives.push(pattern.slice(start))
  const literals = alternatives.map(literalsOf)
  return literals.every(literal => literal !== undefined) ? literals : undefined
}
