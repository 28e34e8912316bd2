import type { JsonValue } from '../lib/kernel/json.ts'
import type { Hole } from './plan.ts'

/** What WHATWG URL would silently drop or turn into something else. */
const CONTROL_BLANK_OR_BACKSLASH = /[\p{Cc} \\]/u

/** An absolute http or https URL without credentials, or undefined. */
export const parseHttpUrl = (text: string): URL | undefined => {
  if (!/^https?:\/\//i.test(text) || CONTROL_BLANK_OR_BACKSLASH.test(text)) return undefined
  const url = URL.parse(text)
  return url === null || url.username !== '' || url.password !== '' ? undefined : url
}

/** Whether an absolute URL's host part holds an `@`, even one that names nobody, which a parser drops. */
const hasUserInfo = (text: string): boolean => /^[^:]*:\/\/[^/?#]*@/.test(text)

/** A loop, since `/\/+$/` takes quadratic time on what strangers may send. */
const withoutTrailingSlashes = (text: string): string => {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}

/** What the template goes on with after the base. */
export type AfterBase = 'nothing' | 'query' | 'path'

const encodeBase = (text: string, after: AfterBase): string | undefined => {
  const url = hasUserInfo(text) ? undefined : parseHttpUrl(text)
  if (url === undefined) return undefined
  // What follows would become part of the base's query or fragment.
  if (after !== 'nothing' && /[?#]/.test(text)) return undefined
  if (after === 'path') return withoutTrailingSlashes(url.origin + url.pathname)
  return url.origin + url.pathname + url.search
}

/** How a text stands at the start of URLs, whatever follows it; none of what may not stand there. */
export const writtenBases = (text: string): string[] =>
  (['nothing', 'path'] as const).flatMap(after => encodeBase(text, after) ?? [])

/** The start of the URL: ends without a slash where a path follows, which brings its own. */
export const baseHole = (after: AfterBase): Hole => ({
  kind: 'base',
  encode: (value: JsonValue) => (typeof value === 'string' ? encodeBase(value, after) : undefined),
  refusal:
    after === 'nothing'
      ? 'must be an absolute http or https URL without credentials'
      : 'must be an absolute http or https URL without credentials, query and fragment',
  whenMissing: undefined,
})
