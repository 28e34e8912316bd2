import type { Matcher, Span } from './matcher.ts'

const escapeForRegExp = (text: string): string => text.replaceAll(/[\\^$.|?*+()[\]{}/]/g, String.raw`\$&`)

const findCased = (pattern: string, text: string, limit: number): readonly Span[] => {
  const spans: Span[] = []
  for (let at = text.indexOf(pattern); at !== -1 && spans.length < limit; at = text.indexOf(pattern, at)) {
    spans.push({ start: at, end: at + pattern.length })
    at += pattern.length
  }
  return spans
}

/** Creates a matcher for a literal, non-empty string. */
export const substringMatcher = (pattern: string, { caseInsensitive }: { caseInsensitive: boolean }): Matcher => {
  if (!caseInsensitive) {
    return {
      test: text => text.includes(pattern),
      find: (text, limit) => findCased(pattern, text, limit),
      weight: 1,
    }
  }
  // A literal pattern never backtracks, so JavaScript's own regex engine is safe here.
  const regex = new RegExp(escapeForRegExp(pattern), 'iu')
  const all = new RegExp(regex.source, 'giu')
  const find = (text: string, limit: number): readonly Span[] => {
    const spans: Span[] = []
    for (const match of text.matchAll(all)) {
      if (spans.length >= limit) break
      spans.push({ start: match.index, end: match.index + match[0].length })
    }
    return spans
  }
  return { test: text => regex.test(text), find, weight: 1 }
}
