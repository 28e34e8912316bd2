import { failure, type Result, success } from '../../lib/kernel/result.ts'

/** A literal string, or the key of a global. */
export type TextPart = { kind: 'text'; text: string } | { kind: 'global'; key: string }

const KEY = '[A-Za-z_][A-Za-z0-9_.-]{0,63}'
/** Matches an escaped brace pair, a global, or an invalid brace pair. */
const BRACES = new RegExp(String.raw`\\\{\{|\{\{\s*(${KEY})\s*\}\}|\{\{`, 'g')

/**
 * Parses the `{{global}}` references in a string that is not a template, such as a command argument. `\{{` is a literal
 * pair of braces; `${VAR}` has no special meaning.
 */
export const parseReferences = (text: string): Result<readonly TextPart[], string> => {
  const parts: TextPart[] = []
  let at = 0
  for (const match of text.matchAll(BRACES)) {
    const [braces, key] = match
    if (braces === '{{') {
      return failure('has "{{" without a global: write {{key}}, or \\{{ for literal braces')
    }
    if (match.index > at) parts.push({ kind: 'text', text: text.slice(at, match.index) })
    parts.push(key === undefined ? { kind: 'text', text: '{{' } : { kind: 'global', key })
    at = match.index + braces.length
  }
  if (at < text.length) parts.push({ kind: 'text', text: text.slice(at) })
  return success(parts)
}

export const keysIn = (parts: readonly TextPart[]): string[] =>
  parts.flatMap(part => (part.kind === 'global' ? part.key : []))

export const fillText = (parts: readonly TextPart[], readGlobal: (key: string) => string): string =>
  parts.map(part => (part.kind === 'text' ? part.text : readGlobal(part.key))).join('')

/** Adds the type `url` to a `{{global}}` at the start of a URL, which templates require there. */
export const withTypedBase = (url: string): string =>
  url.replace(new RegExp(`^\\{\\{(?=\\s*${KEY}\\s*\\}\\})`), '{{url:')
