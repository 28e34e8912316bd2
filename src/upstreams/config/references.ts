import { failure, type Result, success } from '../../lib/kernel/result.ts'

/** A text taken apart: what stands as written, and the keys of globals in between. */
export type TextPart = { kind: 'text'; text: string } | { kind: 'global'; key: string }

const KEY = '[A-Za-z_][A-Za-z0-9_.-]{0,63}'
/** An escaped brace pair, a global, or a brace pair that is neither. */
const BRACES = new RegExp(String.raw`\\\{\{|\{\{\s*(${KEY})\s*\}\}|\{\{`, 'g')

/**
 * The `{{global}}` of a text that nothing else is made of, such as an argument of a command. `\{{` is a literal brace
 * pair; `${VAR}` is text like any other. Fails with why, for whoever wrote it.
 */
export const parseReferences = (text: string): Result<readonly TextPart[], string> => {
  const parts: TextPart[] = []
  let at = 0
  for (const match of text.matchAll(BRACES)) {
    const [braces, key] = match
    if (braces === '{{') {
      return failure('holds "{{" that begins no {{global}}: write {{key}}, or \\{{ for literal braces')
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

/** The text with every global in its place. */
export const fillText = (parts: readonly TextPart[], readGlobal: (key: string) => string): string =>
  parts.map(part => (part.kind === 'text' ? part.text : readGlobal(part.key))).join('')

/** Makes a text at the very start of a URL that is one `{{global}}` what a template takes there. */
export const withTypedBase = (url: string): string =>
  url.replace(new RegExp(`^\\{\\{(?=\\s*${KEY}\\s*\\}\\})`), '{{url:')
