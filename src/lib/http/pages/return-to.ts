/** Maximum length of an address to return to. Long enough for a client's authorization request. */
const MAX_RETURN_TO_CHARACTERS = 8 * 1_024
/** Base for resolving paths; never requested. */
const ANY_ORIGIN = 'http://patchbay.invalid'
/** Maximum number of decoding passes. The last pass must change nothing. */
const MAX_DECODINGS = 5

const CONTROL_CHARACTERS = /\p{Cc}/u
/** Matches paths that a browser, or a proxy that decodes the path, might interpret as another host. */
const LEADS_AWAY = /^[^/]|\/\/|\\|\p{Cc}/u

/** Decodes repeatedly until nothing changes. Returns undefined if the text is malformed or encoded too many times. */
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
 * Returns the path and query from `return_to`, or `/` if a redirect to them might lead to another site (CWE-601). The
 * result is ASCII, as headers require.
 */
export const parseReturnTo = (text: unknown): string => {
  if (typeof text !== 'string' || text.length > MAX_RETURN_TO_CHARACTERS || CONTROL_CHARACTERS.test(text)) return '/'
  const [path = ''] = text.split(/[?#]/, 1)
  if (!isLocal(path) || !URL.canParse(text, ANY_ORIGIN)) return '/'
  const { origin, pathname, search } = new URL(text, ANY_ORIGIN)
  // Checked again, because resolving the path may have removed dot segments.
  return origin === ANY_ORIGIN && isLocal(pathname) ? `${pathname}${search}` : '/'
}
