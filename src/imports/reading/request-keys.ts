import { splitBaseUrl } from '../split-base-url.ts'
import type { ToolRequest } from '../toolkit-requests.store.ts'

/** Replaces values in a key. No template contains it, because placeholders are longer. */
const VALUE = '{}'
const PLACEHOLDER = /\{\{[^{}]*\}\}/g

/** Returns a URL without the names of its values, and without the part of its query that only values decide. */
const outlineOf = (url: string): string => {
  const [path = '', ...query] = url.replaceAll(PLACEHOLDER, VALUE).split('?')
  const fixed = query
    .join('?')
    .split('&')
    .filter(pair => pair !== '' && !pair.includes(VALUE))
  const origin = /^https?:\/\/[^/]*/i.exec(path)?.[0] ?? ''
  return [origin.toLowerCase() + path.slice(origin.length), ...fixed.toSorted()].join('&')
}

/** The ways to write what a tool requests: with each base URL that is known, and with the origins that it may call. */
export type RequestKeys = { absolute: readonly string[]; relative: readonly string[] }

/**
 * Returns texts that are the same for two tools that send the same request: same method and URL, whatever their parameters
 * are called. `baseUrlsOf` returns the values that the global with the base URL may have.
 */
export const requestKeysOf = (
  { method, url, allowedOrigins = [] }: ToolRequest,
  baseUrlsOf: (key: string) => readonly string[],
): RequestKeys => {
  const split = splitBaseUrl(url)
  if (split === undefined) return { absolute: [`${method} ${outlineOf(url)}`], relative: [] }
  // An imported tool reads its base URL from the global of the same name.
  const { parameter: key, path } = split
  return {
    absolute: baseUrlsOf(key).map(base => `${method} ${outlineOf(base.replace(/\/$/, '') + path)}`),
    relative: allowedOrigins.map(origin => `${method} at ${origin} ${outlineOf(path)}`),
  }
}
