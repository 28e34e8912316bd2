import CachePolicy from 'http-cache-semantics'
import { isSuccess, type OutboundResponse } from '../../lib/outbound/outbound-request.ts'
import type { RenderedRequest } from '../../templates/template.ts'

type Directive = { name: string; text: string }

/**
 * Parses the directives of a Cache-Control header, in lower case (RFC 9111 §5.2). Also splits at
 * commas inside quotes, but only field lists contain them, and those are not used.
 */
const readDirectives = (header: string): Directive[] =>
  header
    .toLowerCase()
    .split(',')
    .flatMap(part => {
      const [name = '', ...value] = part.trim().split('=')
      return name === '' ? [] : [{ name: name.trim(), text: [name.trim(), ...value.map(one => one.trim())].join('=') }]
    })

type Headers = OutboundResponse['headers']

/** Joins the values of a header that was sent more than once (RFC 9110 §5.3). */
export const headerText = (headers: Headers, name: string): string | undefined => {
  const value = headers[name]
  return value === undefined || typeof value === 'string' ? value : value.join(', ')
}

/** Directives for caches that revalidate responses, which this cache does not do. */
const ALLOWS_STALE: ReadonlySet<string> = new Set(['stale-while-revalidate', 'stale-if-error'])
/** Directives that make the response stale if their values contradict each other (RFC 9111 §4.2.1). */
const SECONDS: ReadonlySet<string> = new Set(['max-age', 's-maxage'])

const contradicts = (directives: readonly Directive[]): boolean =>
  [...SECONDS].some(name => new Set(directives.flatMap(one => (one.name === name ? [one.text] : []))).size > 1)

/** Returns whether the response states its own freshness. */
const statesFreshness = (directives: readonly Directive[], headers: Headers, isShared: boolean): boolean =>
  headers.expires !== undefined ||
  directives.some(({ name }) => name === 'max-age' || name === 'no-cache' || (isShared && name === 's-maxage'))

/** Returns whether the request was redirected. The caching headers of redirects are not known here. */
const isRedirected = (request: RenderedRequest, response: OutboundResponse): boolean =>
  URL.parse(request.url)?.href !== URL.parse(response.url)?.href

const variesByAnything = (headers: Headers): boolean =>
  (headerText(headers, 'vary') ?? '').split(',').some(field => field.trim() === '*')

export type FreshnessRules = {
  /** The maximum set by the builder. It is also the default if the API states no lifetime. */
  cacheSeconds: number
  /** Whether all callers share results, which RFC 9111 calls a shared cache. */
  isShared: boolean
}

/**
 * Returns how many milliseconds a response may be reused for an identical request, or 0 if it must not be reused. The
 * time exceeds neither the tool's limit nor the lifetime stated by the API (RFC 9111 §4.2). Only `*` matters in Vary,
 * because whole requests are compared.
 */
export const freshMsOf = (
  request: RenderedRequest,
  response: OutboundResponse,
  { cacheSeconds, isShared }: FreshnessRules,
): number => {
  const { status, headers } = response
  if (!isSuccess(response) || variesByAnything(headers) || isRedirected(request, response)) return 0
  const cacheControl = headerText(headers, 'cache-control')
  // Pragma predates Cache-Control (RFC 9111 §5.4).
  if (cacheControl === undefined && headerText(headers, 'pragma')?.toLowerCase().includes('no-cache') === true) return 0
  const directives = readDirectives(cacheControl ?? '').filter(({ name }) => !ALLOWS_STALE.has(name))
  if (contradicts(directives)) return 0
  const isStated = statesFreshness(directives, headers, isShared)
  const stated = directives.map(({ text }) => text)
  const policy = new CachePolicy(
    // Uses GET because tools marked read-only are safe, whatever their method.
    { method: 'GET', url: request.url, headers: {} },
    {
      status,
      headers: {
        'cache-control': (isStated ? stated : [...stated, `max-age=${cacheSeconds}`]).join(', '),
        // The age reduces a lifetime stated by the API, but not the tool's.
        ...(isStated ? { age: String(ageOf(headers)), expires: headerText(headers, 'expires') } : {}),
        date: headerText(headers, 'date'),
        'set-cookie': headerText(headers, 'set-cookie'),
      },
    },
    { shared: isShared, cacheHeuristic: 0, immutableMinTimeToLive: 0 },
  )
  return Math.min(policy.timeToLive(), cacheSeconds * 1_000)
}

/** Returns the age in seconds; 0 if the header is invalid (RFC 9111 §5.1). */
const ageOf = (headers: Headers): number => {
  const text = headerText(headers, 'age')?.split(',', 1)[0]?.trim() ?? ''
  return /^\d{1,10}$/.test(text) ? Number(text) : 0
}

const BYPASSES: ReadonlySet<string> = new Set(['no-cache', 'no-store', 'max-age=0'])

/** Returns whether the request itself asks for a fresh response (RFC 9111 §5.2.1, §5.4). */
export const bypassesCache = ({ headers }: RenderedRequest): boolean =>
  headers.some(([name, value]) => {
    const lower = name.toLowerCase()
    if (lower === 'pragma') return value.toLowerCase().includes('no-cache')
    return lower === 'cache-control' && readDirectives(value).some(({ text }) => BYPASSES.has(text))
  })
