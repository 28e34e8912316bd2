// Splits a template into text and placeholders, for highlighting.

const TYPES = new Set(['string', 'integer', 'number', 'boolean', 'json', 'url'])

/** `\{{` is a literal brace pair; `\\` is a literal backslash. */
const PLACEHOLDER = /(\\*)\{\{((?:(?!\{\{|\}\})[\s\S])*)\}\}/g

/** Returns the placeholder's type; undefined if it is unknown. @param {string} inner */
const typeOf = inner => {
  const head = inner.split('=', 1)[0] ?? ''
  const colon = head.indexOf(':')
  const type = colon === -1 ? 'string' : head.slice(0, colon).trim()
  return TYPES.has(type) ? type : undefined
}

/**
 * Splits a template into pieces that together are the whole text. A piece with a `type` is a
 * placeholder.
 * @param {string} text
 * @returns {{ text: string, type?: string }[]}
 */
export const splitTemplate = text => {
  /** @type {{ text: string, type?: string }[]} */
  const pieces = []
  let start = 0
  for (const match of text.matchAll(PLACEHOLDER)) {
    const backslashes = match[1]?.length ?? 0
    const type = typeOf(match[2] ?? '')
    if (backslashes % 2 === 1 || type === undefined) continue
    const open = match.index + backslashes
    if (open > start) pieces.push({ text: text.slice(start, open) })
    start = match.index + match[0].length
    pieces.push({ text: text.slice(open, start), type })
  }
  if (start < text.length) pieces.push({ text: text.slice(start) })
  return pieces
}
