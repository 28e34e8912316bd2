/** `*` in a pattern matches any characters, including none. */
const matches = (pattern: string, name: string): boolean => {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === pattern
  if (!name.startsWith(first)) return false
  let at = first.length
  // The first match leaves the most text for the remaining pieces.
  for (const piece of rest) {
    const found = name.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}

/** Applies `allow` (if given), then `deny`, to a tool's own name. */
export const isToolAllowed = (
  { allow, deny }: { allow?: readonly string[] | undefined; deny?: readonly string[] | undefined },
  name: string,
): boolean =>
  (allow === undefined || allow.some(pattern => matches(pattern, name))) &&
  !deny?.some(pattern => matches(pattern, name))
