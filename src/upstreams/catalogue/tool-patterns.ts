/** Whether all of `name` is `pattern`, in which `*` stands for any characters, none too. */
const matches = (pattern: string, name: string): boolean => {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === pattern
  if (!name.startsWith(first)) return false
  let at = first.length
  // The first place that fits leaves the most for what follows.
  for (const piece of rest) {
    const found = name.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}

/** Which of an upstream's tools are passed on, by their own names: those that `allow` has, if there is one, but `deny`. */
export const isToolAllowed = (
  { allow, deny }: { allow?: readonly string[] | undefined; deny?: readonly string[] | undefined },
  name: string,
): boolean =>
  (allow === undefined || allow.some(pattern => matches(pattern, name))) &&
  !deny?.some(pattern => matches(pattern, name))
