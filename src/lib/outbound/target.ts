import { failure, type Result, success } from '../kernel/result.ts'

/** Where a request goes. Everything is as the URL standard writes it; the fragment is gone. */
export type Target = {
  /** The whole URL. */
  url: string
  /** Scheme, host and port, such as `https://api.example.com`. */
  origin: string
  /** The host, and the port when it is not the scheme's own. */
  host: string
  /** Path and query; starts with a slash. */
  path: string
}

/** All but controls, spaces and backslashes: over those, parsers disagree about where the host ends. */
const UNAMBIGUOUS = /^[\x21-\x5b\x5d-\x7e\u00a0-\uffff]*$/

const AMBIGUITY = 'the URL holds a space, a backslash or a control character'

const parseTarget = (url: string): Result<Target, string> => {
  if (!UNAMBIGUOUS.test(url)) return failure(AMBIGUITY)
  const parsed = URL.parse(url)
  if (parsed === null) return failure('the URL is not valid')
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') return failure('the URL is neither http nor https')
  if (parsed.username !== '' || parsed.password !== '') return failure('the URL holds a user name or a password')
  if (parsed.hostname === '') return failure('the URL has no host')
  const { origin, host } = parsed
  parsed.hash = ''
  // Not put together from path and query: those cannot tell an empty query from none.
  return success({ url: parsed.href, origin, host, path: parsed.href.slice(origin.length) })
}

export type TargetCheck = (url: string) => Result<Target, string>

/** A path and query that the URL standard leaves as it is: nothing to encode, no fragment, no dot segment. */
const PLAIN_PATH = /^\/[\w\-.~!$&()*+,;=:@%/?]*$/
const DOT_SEGMENT = /\/(?:\.|%2e)/i

/** Origins remembered by one checker; past it they are forgotten and parsed again. */
const MAX_KNOWN_ORIGINS = 1_024

/**
 * Makes the check that every URL passes before a request, redirects included: http or https, no user info, and
 * nothing that two parsers could read differently. URLs of an origin seen before are taken apart without parsing.
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

/** Where a Location header leads (RFC 9110 §10.2.2): relative ones start at `from`, and all pass the check of any URL. */
export const parseRedirectTarget = (
  from: Target,
  location: string | string[],
  check: TargetCheck,
): Result<Target, string> => {
  if (typeof location !== 'string') return failure('it names several places')
  // Header bytes arrive as Latin-1; what is beyond ASCII is UTF-8, as browsers take it.
  const text = Buffer.from(location, 'latin1').toString('utf8')
  if (!UNAMBIGUOUS.test(text)) return failure(AMBIGUITY)
  const url = URL.parse(text, from.url)
  return url === null ? failure('the URL is not valid') : check(url.href)
}
