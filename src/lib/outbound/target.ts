import { failure, type Result, success } from '../kernel/result.ts'

/** The URL of a request, normalized by the URL standard and without its fragment. */
export type Target = {
  /** The whole URL. */
  url: string
  /** Scheme, host and port, such as `https://api.example.com`. */
  origin: string
  /** The host, with the port if it is not the scheme's default. */
  host: string
  /** Path and query, starting with a slash. */
  path: string
}

/** No control characters, spaces or backslashes: with those, parsers disagree about where the host ends. */
const UNAMBIGUOUS = /^[\x21-\x5b\x5d-\x7e\u00a0-\uffff]*$/

const AMBIGUITY = 'the URL contains a space, a backslash or a control character'

const parseTarget = (url: string): Result<Target, string> => {
  if (!UNAMBIGUOUS.test(url)) return failure(AMBIGUITY)
  const parsed = URL.parse(url)
  if (parsed === null) return failure('the URL is not valid')
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') return failure('the URL is neither http nor https')
  if (parsed.username !== '' || parsed.password !== '') return failure('the URL contains a user name or a password')
  if (parsed.hostname === '') return failure('the URL has no host')
  const { origin, host } = parsed
  parsed.hash = ''
  // `pathname` and `search` do not distinguish an empty query from a missing one.
  return success({ url: parsed.href, origin, host, path: parsed.href.slice(origin.length) })
}

export type TargetCheck = (url: string) => Result<Target, string>

/** Matches a path and query that the URL standard leaves unchanged: nothing to encode, and no fragment. */
const PLAIN_PATH = /^\/[\w\-.~!$&()*+,;=:@%/?]*$/
const DOT_SEGMENT = /\/(?:\.|%2e)/i

/** Maximum number of cached origins. The cache is cleared when it is full. */
const MAX_KNOWN_ORIGINS = 1_024

/**
 * Creates the check that every URL must pass, including redirects: http or https, no user info, and nothing that two
 * parsers could read differently. URLs with a known origin are split without being parsed.
 */
export const createTargetCheck = (): TargetCheck => {
  const hosts = new Map<string, string>()
  return url => {
    const end = url.indexOf('/', 8)
    if (end !== -1) {
      const origin = url.slice(0, end)
      const host = hosts.get(origin)
      const path = url.slice(end)
      if (host !== undefined && PLAIN_PATH.test(path) && !DOT_SEGMENT.test(path)) {
        return success({ url, origin, host, path })
      }
    }
    const target = parseTarget(url)
    if (target.ok) {
      if (hosts.size >= MAX_KNOWN_ORIGINS) hosts.clear()
      hosts.set(target.value.origin, target.value.host)
    }
    return target
  }
}

/** Resolves a Location header (RFC 9110 §10.2.2) and checks the resulting URL. */
export const parseRedirectTarget = (
  from: Target,
  location: string | string[],
  check: TargetCheck,
): Result<Target, string> => {
  if (typeof location !== 'string') return failure('it has several Location headers')
  // Headers are decoded as Latin-1, but browsers read non-ASCII characters as UTF-8.
  const text = Buffer.from(location, 'latin1').toString('utf8')
  if (!UNAMBIGUOUS.test(text)) return failure(AMBIGUITY)
  const url = URL.parse(text, from.url)
  return url === null ? failure('the URL is not valid') : check(url.href)
}

/** Removes the trailing dot of a host name, which does not change its meaning (RFC 1034 §3.1). */
export const withoutRootDot = (origin: string): string => origin.replace(/\.(?=$|:\d+$)/, '')

/** Returns a function that tells whether an origin is one of Patchbay's own, in any spelling. */
export const createOwnOriginCheck = (ownOrigins: readonly string[]): ((origin: string) => boolean) => {
  const own = new Set(ownOrigins.map(withoutRootDot))
  return origin => own.has(withoutRootDot(origin))
}
