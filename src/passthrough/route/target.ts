import type { RemoteConfig } from '../../upstreams/upstream.ts'

/** An address to which requests are passed. */
export type PassthroughTarget = {
  readonly url: URL
  /** Prefix of every path. It is empty or has no trailing slash. */
  readonly base: string
  /** Path of the address itself. */
  readonly path: string
  /** Query of the address, without the question mark. Added to every request. */
  readonly query: string
}

/**
 * Parses an address. With HTTP+SSE, it is the address of the stream, and messages go to a sibling path, so paths are
 * relative to the parent path.
 */
export const toTarget = (text: string, transport: RemoteConfig['transport']): PassthroughTarget | undefined => {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  const { pathname: path } = url
  const base = transport === 'sse' ? path.slice(0, path.lastIndexOf('/')) : path.replace(/\/+$/, '')
  return { url, base, path, query: url.search.slice(1) }
}

/**
 * The part of a request's path after the server's path (empty, or with a leading slash), and the
 * query including its `?`.
 */
export type PassedTarget = { suffix: string; search: string }

/** Returns the path and query under which a client's request is sent to this upstream address. */
export const pathAt = ({ base, path, query }: PassthroughTarget, { suffix, search }: PassedTarget): string => {
  const whole = suffix === '' ? path : `${base}${suffix}`
  if (query === '') return `${whole}${search}`
  return search.length > 1 ? `${whole}?${query}&${search.slice(1)}` : `${whole}?${query}`
}

/** Removes the configured query, which clients must not see, if the upstream repeats it. */
const withoutOwn = (search: string, query: string): string => {
  if (query === '') return search
  const own = new Set(query.split('&'))
  const others = search.slice(1).split('&')
  const rest = others.filter(pair => pair !== '' && !own.has(pair))
  return rest.length === 0 ? '' : `?${rest.join('&')}`
}

/** Returns the suffix and query under which clients reach a URL of this address. Undefined if the URL is elsewhere. */
export const suffixOf = (target: PassthroughTarget, url: URL): PassedTarget | undefined => {
  const { base, path, query } = target
  if (url.origin !== target.url.origin) return undefined
  if (url.pathname !== path && url.pathname !== base && !url.pathname.startsWith(`${base}/`)) return undefined
  const suffix = url.pathname === path ? '' : url.pathname.slice(base.length)
  return { suffix, search: withoutOwn(url.search, query) }
}
