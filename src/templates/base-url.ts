import type { JsonValue } from '../lib/kernel/json.ts'
import type { Hole } from './plan.ts'

/** Characters that WHATWG URL would silently drop or change. */
const CONTROL_BLANK_OR_BACKSLASH = /[\p{Cc} \\]/u

/** Parses an absolute http or https URL without credentials. Returns undefined for other text. */
export const parseHttpUrl = (text: string): URL | undefined => {
  if (!/^https?:\/\//i.test(text) || CONTROL_BLANK_OR_BACKSLASH.test(text)) return undefined
  const url = URL.parse(text)
  return url === null || url.username !== '' || url.password !== '' ? undefined : url
}

/**
 * Returns whether the authority of an absolute URL contains an `@`. Checks the text, because parsers drop empty
 * credentials.
 */
export const hasUserInfo = (text: string): boolean => /^[^:]*:\/\/[^/?#]*@/.test(text)

/** Matches labels of a host name, with a port at most. A host name has at most 253 characters (RFC 1035 §2.3.4). */
const LABELS = /^[a-z0-9.-]{1,253}(?::\d+)?$/i

/** Returns labels of a host as the host of a URL contains them. Returns undefined for other text. */
export const writtenHost = (text: string): string | undefined => (LABELS.test(text) ? text.toLowerCase() : undefined)

/** Removes trailing slashes. Uses a loop, because `/\/+$/` takes quadratic time on hostile input. */
const withoutTrailingSlashes = (text: string): string => {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}

/** What follows the base URL in the template. */
export type AfterBase = 'nothing' | 'query' | 'path'

const encodeBase = (text: string, after: AfterBase): string | undefined => {
  const url = hasUserInfo(text) ? undefined : parseHttpUrl(text)
  if (url === undefined) return undefined
  // The rest of the template would become part of the base's query or fragment.
  if (after !== 'nothing' && /[?#]/.test(text)) return undefined
  if (after === 'path') return withoutTrailingSlashes(url.origin + url.pathname)
  return url.origin + url.pathname + url.search
}

/** Returns every spelling of this base URL that a URL may start with; empty if it is not a valid base. */
export const writtenBases = (text: string): string[] =>
  (['nothing', 'path'] as const).flatMap(after => encodeBase(text, after) ?? [])

/** A base URL at the start of the URL. If a path follows, its trailing slashes are removed. */
export const baseHole = (after: AfterBase): Hole => ({
  kind: 'base',
  encode: (value: JsonValue) => (typeof value === 'string' ? encodeBase(value, after) : undefined),
  refusal:
    after === 'nothing'
      ? 'must be an absolute http or https URL without credentials'
      : 'must be an absolute http or https URL without credentials, query and fragment',
  whenMissing: undefined,
})
