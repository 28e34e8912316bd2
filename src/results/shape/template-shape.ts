/** Longest URI that is compared with templates, in characters: callers send what they like. */
const MAX_URI_CHARS = 4_096
/** Texts between the expressions of a template that are looked for, and how much of each: upstreams send what they like. */
const MAX_PIECES = 16
const MAX_PIECE_CHARS = 32

/** A URI template (RFC 6570) by the texts around its expressions; without `last`: it has none. */
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
 * Whether a URI may be one of a template's, whatever its expressions say. The time it takes is bounded: no pattern of
 * strangers runs, and of what is long only the beginning is looked at.
 */
export const mayMatch = ({ first, pieces, last }: TemplateShape, uri: string): boolean => {
  if (last === undefined) return uri === first
  if (uri.length > MAX_URI_CHARS || !uri.startsWith(first)) return false
  let at = first.length
  for (const piece of pieces) {
    const found = uri.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return uri.length - last.length >= at && uri.endsWith(last)
}
