import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { type PassthroughTarget, suffixOf } from '../route/target.ts'
import { createHopCheck } from './hop-by-hop.ts'

/**
 * Headers that an upstream may set for its own origin but not for ours: cookies and instructions to browsers, which
 * would affect the dashboard; authorization challenges; CORS, which we decide; and instructions to reverse proxies.
 */
const DROPPED: ReadonlySet<string> = new Set([
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

/** Name patterns of other headers to drop: CORS, browser sessions, and instructions to reverse proxies and caches. */
const DROPPED_PREFIXES =
  /^(?:access-control-|sec-session-|secure-session-|x-accel-(?!buffering$)|x-lighttpd-|x-litespeed-|x-reproxy-|.+-cdn-cache-control$)/

/** Isolates an upstream's page from ours: it runs no scripts and has no access to our origin. */
export const CONFINED = ['content-security-policy', "sandbox; default-src 'none'", 'x-content-type-options', 'nosniff']

const ADDRESSES: ReadonlySet<string> = new Set(['location', 'content-location'])

export const isPassedBack = (name: string): boolean => !DROPPED.has(name) && !DROPPED_PREFIXES.test(name)

/** Directives that let shared caches store a response even if the request has a token (RFC 9111 §3.5). */
const SHARED_CACHING = /(^|,)\s*(?:public|s-maxage\s*=\s*"?\w*"?)\s*(?=,|$)/gi

/**
 * Prevents shared caches from storing a response, because the upstream does not take our access restrictions into
 * account.
 */
const toPrivate = (value: string): string => {
  const rest = value.replace(SHARED_CACHING, '').replace(/^\s*,\s*/, '')
  return rest.trim() === '' ? 'private' : `private, ${rest.trim()}`
}

export type AnswerParts = {
  /** Headers as received, keyed by lowercase name. */
  headers: Readonly<Record<string, string | string[]>>
  hasToken: boolean
  /** The Location to send, if there is one that the client may see. */
  location: string | undefined
}

/** Builds the response headers for the client, as a flat list of names and values. */
export const buildResponseHeaders = ({ headers, hasToken, location }: AnswerParts): string[] => {
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
  return [...fields, ...CONFINED]
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** Redirect statuses after which the client sends the body again. */
const REPEATING: ReadonlySet<number> = new Set([307, 308])

export type RedirectParts = {
  status: number
  location: string | undefined
  /** The upstream URL that was requested. `targets` are all addresses of the upstream. */
  upstreamUrl: string
  targets: readonly PassthroughTarget[]
  /** The server's public path. */
  publicPath: string
  hasToken: boolean
  /** Whether the client may show the response as a page. */
  isForPage: boolean
  holdsSecret: (text: string) => boolean
}

const leak = (where: string): Result<never, string> =>
  failure(`The MCP server redirected ${where}, so its response is not passed on.`)

/**
 * Translates the Location of a response. Targets within the upstream become URLs of this server. Other targets are
 * allowed only if the client would not send them a body or a token, and does not show pages: a link to our origin must
 * not lead a person elsewhere. The error gives the reason.
 */
export const readLocation = (parts: RedirectParts): Result<string | undefined, string> => {
  const { status, location, upstreamUrl, targets, publicPath, hasToken, isForPage, holdsSecret } = parts
  if (location === undefined) return success(undefined)
  const isRedirect = REDIRECTS.has(status) || (isForPage && status >= 300 && status < 400)
  // Node decodes headers as Latin-1. Browsers read non-ASCII characters as UTF-8.
  const url = URL.parse(Buffer.from(location, 'latin1').toString('utf8'), upstreamUrl)
  if (url === null) return isRedirect ? leak('to an invalid URL') : success(undefined)
  for (const target of targets) {
    const inside = suffixOf(target, url)
    if (inside === undefined) continue
    const path = `${publicPath}${inside.suffix}${inside.search}${url.hash}`
    return holdsSecret(path) ? leak('to an address that contains a secret') : success(path)
  }
  if (!isRedirect) return success(undefined)
  if (targets.some(({ url: { origin } }) => origin === url.origin)) return leak('outside its own path')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return leak('to a URL that does not use http or https')
  if (isForPage) return leak('a browser to another origin, which it would reach from an address of this one')
  if (hasToken || REPEATING.has(status))
    return leak('to another origin, which would receive data meant for this server')
  return holdsSecret(url.href) ? leak('to an address that contains a secret') : success(url.href)
}
