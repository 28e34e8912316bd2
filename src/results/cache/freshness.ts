import CachePolicy from 'http-cache-semantics'
import type { OutboundResponse } from '../../lib/outbound/http-client.ts'
import type { RenderedRequest } from '../../templates/template.ts'

type Directive = { name: string; text: string }

/**
 * The directives of a Cache-Control header in lower case, as they are compared (RFC 9111 §5.2). A comma within quotes
 * parts nothing, which matters only to the lists of fields that we do not read.
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

/** A header that came more than once is one list (RFC 9110 §5.3). */
export const textOf = (headers: Headers, name: string): string | undefined => {
  const value = headers[name]
  return value === undefined || typeof value === 'string' ? value : value.join(', ')
}

/** Use of what is stale is for caches that ask again meanwhile: this one does not. */
const ALLOWS_STALE: ReadonlySet<string> = new Set(['stale-while-revalidate', 'stale-if-error'])
/** Whose number says how long: given twice, they say nothing that could be trusted (RFC 9111 §4.2.1). */
const SECONDS: ReadonlySet<string> = new Set(['max-age', 's-maxage'])

const contradicts = (directives: readonly Directive[]): boolean =>
  [...SECONDS].some(name => new Set(directives.flatMap(one => (one.name === name ? [one.text] : []))).size > 1)

/** Whether the answer says itself until when it is fresh, be it not at all. */
const saysHowLong = (directives: readonly Directive[], headers: Headers, isShared: boolean): boolean =>
  headers.expires !== undefined ||
  directives.some(({ name }) => name === 'max-age' || name === 'no-cache' || (isShared && name === 's-maxage'))

/** What a redirect on the way says of caching is not known here. */
const isRedirected = (request: RenderedRequest, response: OutboundResponse): boolean =>
  URL.parse(request.url)?.href !== URL.parse(response.url)?.href

const variesByAnything = (headers: Headers): boolean =>
  (textOf(headers, 'vary') ?? '').split(',').some(field => field.trim() === '*')

export type FreshnessRules = {
  /** The tool's own word: the longest, and how long where the API says nothing. */
  cacheSeconds: number
  /** Whether it is kept for every caller: then it is what RFC 9111 calls a shared cache. */
  isShared: boolean
}

/**
 * For how many milliseconds an answer may be given again to the very same request; 0: not at all. Never longer than the
 * tool says, nor than the API does (RFC 9111 §4.2). Vary needs no look but for `*`: requests are compared whole.
 */
export const freshMsOf = (
  request: RenderedRequest,
  response: OutboundResponse,
  { cacheSeconds, isShared }: FreshnessRules,
): number => {
  const { status, headers } = response
  if (status < 200 || status > 299 || variesByAnything(headers) || isRedirected(request, response)) return 0
  const cacheControl = textOf(headers, 'cache-control')
  // What Cache-Control was called before there was one (RFC 9111 §5.4).
  if (cacheControl === undefined && textOf(headers, 'pragma')?.toLowerCase().includes('no-cache') === true) return 0
  const directives = readDirectives(cacheControl ?? '').filter(({ name }) => !ALLOWS_STALE.has(name))
  if (contradicts(directives)) return 0
  const isTimed = saysHowLong(directives, headers, isShared)
  const said = directives.map(({ text }) => text)
  const policy = new CachePolicy(
    // The mark of the tool says what a method else would: that asking again changes nothing.
    { method: 'GET', url: request.url, headers: {} },
    {
      status,
      headers: {
        'cache-control': (isTimed ? said : [...said, `max-age=${cacheSeconds}`]).join(', '),
        // How old it is counts against what the API says, and not against the tool's own word.
        ...(isTimed ? { age: String(ageOf(headers)), expires: textOf(headers, 'expires') } : {}),
        date: textOf(headers, 'date'),
        'set-cookie': textOf(headers, 'set-cookie'),
      },
    },
    { shared: isShared, cacheHeuristic: 0, immutableMinTimeToLive: 0 },
  )
  return Math.min(policy.timeToLive(), cacheSeconds * 1_000)
}

/** In seconds; what is no age is none (RFC 9111 §5.1). */
const ageOf = (headers: Headers): number => {
  const text = textOf(headers, 'age')?.split(',', 1)[0]?.trim() ?? ''
  return /^\d{1,10}$/.test(text) ? Number(text) : 0
}

const ASKS_ANEW: ReadonlySet<string> = new Set(['no-cache', 'no-store', 'max-age=0'])

/** Whether a request says itself that it wants no kept answer (RFC 9111 §5.2.1, §5.4). */
export const asksAnew = ({ headers }: RenderedRequest): boolean =>
  headers.some(([name, value]) => {
    const lower = name.toLowerCase()
    if (lower === 'pragma') return value.toLowerCase().includes('no-cache')
    return lower === 'cache-control' && readDirectives(value).some(({ text }) => ASKS_ANEW.has(text))
  })
