import type { JsonValue } from '../../src/lib/kernel/json.ts'
import type { RenderedRequest } from '../../src/templates/template.ts'

/** A request whose parts are equal if servers cannot tell them apart. */
export type ComparedRequest = {
  method: string
  path: string
  query: readonly string[]
  headers: Readonly<Record<string, string>>
}

/** Escapes that servers decode to the same text whether they are there or not (RFC 3986 §2.3, WHATWG URL). */
const OPTIONAL_ESCAPES = /%(?:21|27|28|29|2A|5B|5D)/gi

const unify = (text: string): string => text.replaceAll(OPTIONAL_ESCAPES, encoded => decodeURIComponent(encoded))

/** Headers that say what the client accepts, which is not part of the request's content. */
const IGNORED: ReadonlySet<string> = new Set(['accept', 'content-type'])

const unifyHeaders = (headers: Iterable<readonly [string, unknown]>) =>
  Object.fromEntries(
    [...headers]
      .map(([name, value]) => [name.toLowerCase(), String(value)] as const)
      .filter(([name]) => !IGNORED.has(name))
      .sort(([one], [other]) => one.localeCompare(other)),
  )

const compared = (method: string, url: string, headers: Iterable<readonly [string, unknown]>): ComparedRequest => {
  const { pathname, search } = new URL(url)
  const pairs = search.slice(1).split('&')
  return {
    method: method.toUpperCase(),
    path: unify(pathname),
    query: pairs
      .filter(pair => pair !== '')
      .map(pair => unify(pair).replaceAll('%20', '+'))
      .sort(),
    headers: unifyHeaders(headers),
  }
}

export const comparedOurs = ({ method, url, headers }: RenderedRequest): ComparedRequest =>
  compared(method, url, headers)

export const comparedTheirs = (request: { method?: string; url: string; headers: Readonly<Record<string, unknown>> }) =>
  compared(request.method ?? 'GET', request.url, Object.entries(request.headers))

/** Returns a form as sorted pairs of decoded names and values. */
export const comparedForm = (body: unknown): readonly string[] =>
  [...new URLSearchParams(typeof body === 'string' ? body : '')].map(pair => JSON.stringify(pair)).sort()

/** Returns JSON with sorted members. */
export const comparedJson = (value: JsonValue): string =>
  JSON.stringify(value, (_key, part: JsonValue) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  )
