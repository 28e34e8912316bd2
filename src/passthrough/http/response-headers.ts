import { failure, type Result, success } from '../../kernel/index.ts'
import { type PassthroughTarget, suffixOf } from '../../upstreams/index.ts'
import { createHopCheck } from './hop-by-hop.ts'

/**
 * What an upstream may say for an origin of its own, and not for ours: cookies and orders to browsers, which would hold
 * for the dashboard as well; whom to ask for tokens; which pages may read, which is ours to say; orders to the proxies
 * before it, which here are those before us.
 */
const NOT_FOR_US: ReadonlySet<string> = new Set([
  'set-cookie',
  'set-cookie2',
  'set-login',
  'www-authenticate',
  'authentication-info',
  'accept-ch',
  'alt-svc',
  'cdn-cache-control',
  'clear-site-data',
  'content-security-policy',
  'content-security-policy-report-only',
  'critical-ch',
  'edge-control',
  'nel',
  'origin-agent-cluster',
  'origin-trial',
  'public-key-pins',
  'public-key-pins-report-only',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'speculation-rules',
  'strict-transport-security',
  'surrogate-control',
  'use-as-dictionary',
  'x-content-type-options',
  'x-sendfile',
])

/** Orders of several words: which pages may read, which file a proxy is to answer, what it is to keep. */
const NOT_FOR_US_EITHER =
  /^(?:access-control-|sec-session-|secure-session-|x-accel-(?!buffering$)|x-lighttpd-|x-litespeed-|x-reproxy-|.+-cdn-cache-control$)/

/** A page of an upstream's is no page of ours: nothing in it runs, and nothing of ours can be reached from it. */
export const CONFINED = [
  ['content-security-policy', "sandbox; default-src 'none'"],
  ['x-content-type-options', 'nosniff'],
] as const
const CONFINED_FIELDS = CONFINED.flat()

const ADDRESSES: ReadonlySet<string> = new Set(['location', 'content-location'])

export const isPassedBack = (name: string): boolean => !NOT_FOR_US.has(name) && !NOT_FOR_US_EITHER.test(name)

/** What lets a cache that many share keep an answer, even one to who has shown a token (RFC 9111 §3.5). */
const SHARED_CACHING = /(^|,)\s*(?:public|s-maxage\s*=\s*"?\w*"?)\s*(?=,|$)/gi

/** The tier is ours, and the upstream knows nothing of it: what one caller is answered, no cache is to answer another. */
const toPrivate = (value: string): string => {
  const rest = value.replace(SHARED_CACHING, '').replace(/^\s*,\s*/, '')
  return rest.trim() === '' ? 'private' : `private, ${rest.trim()}`
}

export type AnswerParts = {
  /** As they came, by names in lower case. */
  headers: Readonly<Record<string, string | string[]>>
  /** Whether the caller has shown a token. */
  hasToken: boolean
  /** Of the redirect or of what was made, as clients may have it; undefined where there is none, or it is nobody's business. */
  location: string | undefined
}

/** The headers of an upstream's answer as they go to the client: names and values in turn. */
export const buildAnswerHeaders = ({ headers, hasToken, location }: AnswerParts): string[] => {
  const isHop = createHopCheck(headers.connection)
  const fields: string[] = []
  const caching: string[] = []
  for (const name in headers) {
    const given = headers[name] ?? ''
    if (hasToken && name === 'cache-control') caching.push(String(given))
    else if (isHop(name) || !isPassedBack(name) || ADDRESSES.has(name)) continue
    else if (typeof given === 'string') fields.push(name, given)
    else for (const value of given) fields.push(name, value)
  }
  if (hasToken) fields.push('cache-control', toPrivate(caching.join(', ')))
  if (location !== undefined) fields.push('location', location)
  return [...fields, ...CONFINED_FIELDS]
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** A client sends what it has sent once more, to wherever it is told. */
const REPEATING: ReadonlySet<number> = new Set([307, 308])

export type RedirectParts = {
  status: number
  location: string | undefined
  /** The address that was asked, and all addresses of the same upstream. */
  asked: string
  targets: readonly PassthroughTarget[]
  /** The server's own path, as clients write it. */
  publicPath: string
  /** Whether the caller has shown a token, which it would show to whoever it is sent to. */
  hasToken: boolean
  holdsSecret: (text: string) => boolean
}

const leak = (where: string): Result<never, string> =>
  failure(`The upstream redirected ${where}; nothing is passed on.`)

/**
 * Where an answer leads. What lies within the upstream leads back here. Elsewhere a client is sent only where it takes
 * nothing along; the error says why it is not.
 */
export const readLocation = (parts: RedirectParts): Result<string | undefined, string> => {
  const { status, location, asked, targets, publicPath, hasToken, holdsSecret } = parts
  if (location === undefined) return success(undefined)
  const isRedirect = REDIRECTS.has(status)
  // Header bytes arrive as Latin-1; what is beyond ASCII is UTF-8, as browsers take it.
  const url = URL.parse(Buffer.from(location, 'latin1').toString('utf8'), asked)
  if (url === null) return isRedirect ? leak('to what is no URL') : success(undefined)
  for (const target of targets) {
    const inside = suffixOf(target, url)
    if (inside === undefined) continue
    const path = `${publicPath}${inside.suffix}${inside.search}${url.hash}`
    return holdsSecret(path) ? leak('to an address that holds a secret') : success(path)
  }
  if (!isRedirect) return success(undefined)
  if (targets.some(({ url: { origin } }) => origin === url.origin)) return leak('out of its own path')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return leak('to what is no address of the web')
  if (hasToken || REPEATING.has(status))
    return leak('to another origin, which would get what was meant for this server')
  return holdsSecret(url.href) ? leak('to an address that holds a secret') : success(url.href)
}
