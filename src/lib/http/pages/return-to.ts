/** Longest address to return to; fits a client's whole authorization request. */
const MAX_RETURN_TO_CHARACTERS = 8 * 1_024
/** Base for resolving paths; nothing is ever sent to it. */
const ANY_ORIGIN = 'http://patchbay.invalid'
/** Levels of percent-encoding that are decoded; deeper nesting is refused. */
const MAX_DECODINGS = 5

const CONTROL_CHARACTERS = /\p{Cc}/u
/** Matches what a browser, or a proxy that decodes, might read as another host. */
const LEADS_AWAY = /^[^/]|\/\/|\\|\p{Cc}/u

/** Decodes until nothing is percent-encoded. Returns undefined if the text is malformed or nested too deeply. */
const decodeFully = (text: string): string | undefined => {
  let decoded = text
  for (let count = 0; count < MAX_DECODINGS; count++) {
    const before = decoded
    try {
      decoded = decodeURIComponent(before)
    } catch {
      return undefined
    }
    if (decoded === before) return decoded
  }
  return undefined
}

const isLocal = (path: string): boolean => {
  const decoded = decodeFully(path)
  return decoded !== undefined && decoded !== '' && !LEADS_AWAY.test(decoded)
}

/**
 * Returns the path and query to redirect to according to `return_to`, or `/` if it might lead to another site
 * (CWE-601). The result is ASCII and fits into a header.
 */
export const parseReturnTo = (text: unknown): string => {
  if (typeof text !== 'string' || text.length > MAX_RETURN_TO_CHARACTERS || CONTROL_CHARACTERS.test(text)) return '/'
  const [path = ''] = text.split(/[?#]/, 1)
  if (!isLocal(path) || !URL.canParse(text, ANY_ORIGIN)) return '/'
  const { origin, pathname, search } = new URL(text, ANY_ORIGIN)
  // Check again: resolving may have removed dot segments.
  return origin === ANY_ORIGIN && isLocal(pathname) ? `${pathname}${search}` : '/'
}
