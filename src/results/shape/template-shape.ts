import { hasPiecesInOrder } from '../../lib/kernel/names.ts'

/** Maximum length of a URI that is matched against templates, because callers are untrusted. */
const MAX_URI_CHARS = 4_096
/** Maximum number and length of the texts compared between a template's expressions: upstreams are untrusted. */
const MAX_PIECES = 16
const MAX_PIECE_CHARS = 32

/** The texts around the expressions of a URI template (RFC 6570). `last` is undefined if it has no expressions. */
type TemplateShape = { first: string; pieces: readonly string[]; last: string | undefined }

export const toTemplateShape = (template: string): TemplateShape => {
  const begin = template.indexOf('{')
  const end = template.lastIndexOf('}')
  if (begin === -1 || end < begin) return { first: template, pieces: [], last: undefined }
  const pieces: string[] = []
  for (let at = begin; pieces.length < MAX_PIECES; ) {
    const close = template.indexOf('}', at)
    const open = template.indexOf('{', close)
    if (close === -1 || open === -1) break
    pieces.push(template.slice(close + 1, Math.min(open, close + 1 + MAX_PIECE_CHARS)))
    at = open
  }
  return { first: template.slice(0, begin), pieces, last: template.slice(end + 1) }
}

/**
 * Returns whether a URI could match a template, whatever its expressions expand to. Takes bounded time, because it runs
 * no untrusted patterns and compares only the beginnings of long literals.
 */
export const mayMatch = ({ first, pieces, last }: TemplateShape, uri: string): boolean => {
  if (last === undefined) return uri === first
  return uri.length <= MAX_URI_CHARS && hasPiecesInOrder(uri, { first, pieces, last })
}
