import { failure, type Result, success } from '../../lib/kernel/result.ts'

/** `loopback` and `private` (RFC 8252 §7.1, §7.3) are for programs on the user's own machine. */
export type RedirectKind = 'web' | 'loopback' | 'private'

const MAX_REDIRECT_CHARACTERS = 2_048
/** Printable ASCII without the backslash, which parsers interpret in different ways. */
const UNAMBIGUOUS = /^[\x21-\x5b\x5d-\x7e]+$/
/** Also matches empty user info, which is not visible in a parsed URL. */
const USER_INFO = /^[^:]+:\/\/[^/?]*@/
/**
 * Requires exactly two slashes. Parsers also accept fewer or more, but then disagree about the host and the user name.
 */
const WEB_START = /^https?:\/\/[^/?]/i
/**
 * Host names, IPv4 addresses and IPv6 addresses. Hosts may contain other characters (WHATWG URL §3.5), but these could
 * have a special meaning in a policy or header.
 */
const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Schemes that browsers handle themselves or pass to programs with the user's rights. No app owns them. */
const NOT_OF_APPS: ReadonlySet<string> = new Set(
  'about blob chrome content data file filesystem ftp intent jar javascript livescript mailto mhtml ms-msdt res search-ms sms tel vbscript view-source ws wss'.split(
    ' ',
  ),
)

const isWebProtocol = (protocol: string): boolean => protocol === 'https:' || protocol === 'http:'

/** Checks whether a redirect URI is allowed. The error message starts with `must`. */
export const checkRedirectUri = (uri: string): Result<RedirectKind, string> => {
  if (uri.length > MAX_REDIRECT_CHARACTERS) return failure(`must have at most ${MAX_REDIRECT_CHARACTERS} characters`)
  const url = UNAMBIGUOUS.test(uri) ? URL.parse(uri) : null
  if (url === null) return failure('must be absolute URIs without spaces or backslashes')
  if (uri.includes('#')) return failure('must not contain a fragment')
  if (USER_INFO.test(uri)) return failure('must not contain a user name or password')
  if (isWebProtocol(url.protocol) && !(WEB_START.test(uri) && HOST.test(url.hostname)))
    return failure('must have a host after //')
  const isLoopback = LOOPBACK_HOSTS.has(url.hostname)
  switch (url.protocol) {
    case 'https:':
      return isLoopback ? failure('must use http for loopback addresses') : success('web')
    case 'http:':
      return isLoopback ? success('loopback') : failure('must use https, except for loopback addresses')
    default:
      return NOT_OF_APPS.has(url.protocol.slice(0, -1))
        ? failure(`must not use the scheme ${url.protocol.slice(0, -1)}`)
        : success('private')
  }
}

/** Checks all redirect URIs. Returns their kinds, or the first error. */
export const checkRedirectUris = (uris: readonly string[]): Result<readonly RedirectKind[], string> => {
  const kinds: RedirectKind[] = []
  for (const uri of uris) {
    const checked = checkRedirectUri(uri)
    if (!checked.ok) return checked
    kinds.push(checked.value)
  }
  return success(kinds)
}

/**
 * Returns the source that allows this redirect URI in the form-action directive of a content security policy, because
 * the response to a form redirects there. CSP 3 §2.3.1 cannot express IPv6 addresses, so for `[::1]` the source is its
 * scheme.
 */
export const formTargetOf = (redirectUri: string): string => {
  const { protocol, hostname, origin } = new URL(redirectUri)
  return isWebProtocol(protocol) && !hostname.startsWith('[') ? origin : protocol
}

/** Returns a redirect URI's host or app scheme, for display. */
export const destinationOf = (redirectUri: string): string => {
  const { protocol, host } = new URL(redirectUri)
  return isWebProtocol(protocol) ? host : `${protocol}//`
}
