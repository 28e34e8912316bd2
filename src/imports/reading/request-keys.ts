import type { ToolRequest } from '../toolkit-requests.store.ts'

/** What stands for a value in a key. No template has it, because placeholders are longer. */
const VALUE = '{}'
const PLACEHOLDER = /\{\{[^{}]*\}\}/g
const BASE_URL = /^\{\{url:([\w.-]+)[^{}]*\}\}/

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

/**
 * Returns texts of which two tools have one in common if they send the same request: same method and URL, whatever their
 * parameters are called. Where a global has the base URL and its value is not known, the origins count.
 */
export const requestKeysOf = (
  { method, url, allowedOrigins = [] }: ToolRequest,
  baseUrlOf: (key: string) => string | undefined,
): readonly string[] => {
  const [placeholder = '', key] = BASE_URL.exec(url) ?? []
  if (key === undefined) return [`${method} ${outlineOf(url)}`]
  const path = url.slice(placeholder.length)
  const base = baseUrlOf(key)?.replace(/\/$/, '')
  return [
    ...(base === undefined ? [] : [`${method} ${outlineOf(base + path)}`]),
    ...allowedOrigins.map(origin => `${method} at ${origin} ${outlineOf(path)}`),
  ]
}
