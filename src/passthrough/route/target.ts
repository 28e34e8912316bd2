import type { RemoteConfig } from '../../upstreams/upstream.ts'

/** An address that requests are passed on to. */
export type PassthroughTarget = {
  readonly url: URL
  /** Prefix of every path: empty, or without a trailing slash. */
  readonly base: string
  /** Path of the address itself. */
  readonly path: string
  /** Its query, without the question mark, which is added to every request. */
  readonly query: string
}

/**
 * With HTTP+SSE the address is that of the stream, and messages go to a sibling path. So for that transport, paths are
 * resolved relative to the parent.
 */
export const toTarget = (text: string, transport: RemoteConfig['transport']): PassthroughTarget | undefined => {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  const { pathname: path } = url
  const base = transport === 'sse' ? path.slice(0, path.lastIndexOf('/')) : path.replace(/\/+$/, '')
  return { url, base, path, query: url.search.slice(1) }
}

/** The part of a request's path after the server's own (empty, or starting with a slash), and the query with its `?`. */
export type PassedTarget = { suffix: string; search: string }

/** Returns the path and query of a request at the target. */
export const pathAt = ({ base, path, query }: PassthroughTarget, { suffix, search }: PassedTarget): string => {
  const whole = suffix === '' ? path : `${base}${suffix}`
  if (query === '') return `${whole}${search}`
  return search.length > 1 ? `${whole}?${query}&${search.slice(1)}` : `${whole}?${query}`
}

/** Removes the configured query, which only the upstream may see, where the upstream repeats it. */
const withoutOwn = (search: string, query: string): string => {
  if (query === '') return search
  const own = new Set(query.split('&'))
  const others = search.slice(1).split('&')
  const rest = others.filter(pair => pair !== '' && !own.has(pair))
  return rest.length === 0 ? '' : `?${rest.join('&')}`
}

/** Returns the suffix and query under which clients reach a URL of the target, or undefined if it is not one. */
export const suffixOf = (target: PassthroughTarget, url: URL): PassedTarget | undefined => {
  const { base, path, query } = target
  if (url.origin !== target.url.origin) return undefined
  if (url.pathname !== path && url.pathname !== base && !url.pathname.startsWith(`${base}/`)) return undefined
  const suffix = url.pathname === path ? '' : url.pathname.slice(base.length)
  return { suffix, search: withoutOwn(url.search, query) }
}
