/** Matches tool names that all MCP clients accept. */
export const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/
export const TOOL_NAME_RULE = 'must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -'

/** Returns whether a string is an http or https origin (RFC 6454): only a scheme, a host and an optional port. */
export const isOrigin = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href
}

/** Matches keys of globals. */
export const GLOBAL_KEY = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/

/** Prefix of Patchbay's own tools, which other tools may not use. */
export const RESERVED_TOOL_PREFIX = 'proxy_'

/** Returns whether a string consists of `first`, the pieces in order, and `last`, with any text in between. */
export const hasPiecesInOrder = (
  text: string,
  { first, pieces, last }: { first: string; pieces: readonly string[]; last: string },
): boolean => {
  if (!text.startsWith(first)) return false
  let at = first.length
  // Taking the earliest match leaves the most text for the remaining pieces.
  for (const piece of pieces) {
    const found = text.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}
