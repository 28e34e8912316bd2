/** Shorter ones are in nearly every text. */
const MIN_LITERAL_CHARS = 2

const META = new Set('\\^$.|?*+()[]{}')
/** Behind these a character need not be there. */
const MAY_DROP = new Set('?*{')

/** Where the class that begins at `at` ends: the index behind its bracket. */
const skipClass = (pattern: string, at: number): number => {
  let end = at + 1
  if (pattern[end] === '^') end++
  if (pattern[end] === ']') end++
  while (end < pattern.length && pattern[end] !== ']') end += pattern[end] === '\\' ? 2 : 1
  return end + 1
}

/** Where the group that begins at `at` ends. */
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

/** Where what begins at `at`, and is no literal, ends. */
const skipPart = (pattern: string, at: number): number => {
  const char = pattern[at]
  if (char === '(') return skipGroup(pattern, at)
  if (char === '[') return skipClass(pattern, at)
  if (char === '\\') return at + 2
  REPEAT.lastIndex = at
  return REPEAT.test(pattern) ? REPEAT.lastIndex : at + 1
}

/** Behind these escapes stands more that belongs to them, as in `\x{41}` and `\pL`. */
const LONG_ESCAPE = /[xpPuUcCQ0-7]/

/** An escaped sign stands for itself; an escaped letter or digit for a class or a place. */
const isEscapedSign = (char: string | undefined): char is string => char !== undefined && !/[\p{L}\p{N}]/u.test(char)

/** A pattern holds few of any weight, and each is looked for. */
const MAX_LITERALS = 4

/**
 * The longest runs of characters that every match of a pattern must hold, or undefined when there is none that can be
 * told with certainty: only what stands outside of groups and classes is looked at, and nothing of a pattern with
 * alternatives or flags there.
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

/** A character of two code units would be cut by what follows it; no pattern of any weight holds one. */
const HAS_SURROGATE = /[\uD800-\uDFFF]/

/**
 * Lists of texts: whatever the pattern matches holds all texts of one of them, the longest first. Undefined when none can
 * be told. For `a|b` a list of each alternative. The pattern is one that compiles.
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
