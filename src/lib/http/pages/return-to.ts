/** Longest address that a page sends somebody back to: a client's whole authorization request fits. */
const MAX_RETURN_TO_CHARACTERS = 8 * 1_024
/** Only resolves paths; never asked for anything. */
const ANY_ORIGIN = 'http://patchbay.invalid'
/** Encodings within encodings that are looked into; what is deeper is refused. */
const MAX_DECODINGS = 5

const CONTROL_CHARACTERS = /\p{Cc}/u
/** What browsers, or a proxy that decodes, could take for another host's address. */
const LEADS_AWAY = /^[^/]|\/\/|\\|\p{Cc}/u

/** The text with nothing left that is percent-encoded; undefined where that has no end or is malformed. */
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
 * Where a page is to send somebody on to, as `return_to` says: a path of ours with its query, or `/` for whatever
 * could lead elsewhere (CWE-601). The answer is made of ASCII and fits a header.
 */
export const parseReturnTo = (text: unknown): string => {
  if (typeof text !== 'string' || text.length > MAX_RETURN_TO_CHARACTERS || CONTROL_CHARACTERS.test(text)) return '/'
  const [path = ''] = text.split(/[?#]/, 1)
  if (!isLocal(path) || !URL.canParse(text, ANY_ORIGIN)) return '/'
  const { origin, pathname, search } = new URL(text, ANY_ORIGIN)
  // Once more: dots may have been taken out of it.
  return origin === ANY_ORIGIN && isLocal(pathname) ? `${pathname}${search}` : '/'
}
