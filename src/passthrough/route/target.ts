import type { RemoteConfig } from '../upstream.ts'

/** One address that requests are passed on to. */
export type PassthroughTarget = {
  readonly url: URL
  /** What the path of every request begins with; empty, or without a slash at its end. */
  readonly base: string
  /** The path of the address itself. */
  readonly path: string
  /** Its own query, without the question mark: sent along with every request. */
  readonly query: string
}

/**
 * Over the older transport the address is that of the stream, and messages go to another beside it: so there what
 * follows the server's own path is looked for beside it, too.
 */
export const toTarget = (text: string, transport: RemoteConfig['transport']): PassthroughTarget | undefined => {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  const { pathname: path } = url
  const base = transport === 'sse' ? path.slice(0, path.lastIndexOf('/')) : path.replace(/\/+$/, '')
  return { url, base, path, query: url.search.slice(1) }
}

/** Where a request goes whose path goes on, behind the server's own, with `suffix` (empty, or with a slash at its start). */
export const pathAt = ({ base, path, query }: PassthroughTarget, suffix: string, search: string): string => {
  const whole = suffix === '' ? path : `${base}${suffix}`
  if (query === '') return `${whole}${search}`
  return search.length > 1 ? `${whole}?${query}&${search.slice(1)}` : `${whole}?${query}`
}

/** What the builder has put into the address is for the upstream alone, wherever that repeats it. */
const withoutOwn = (search: string, query: string): string => {
  if (query === '') return search
  const own = new Set(query.split('&'))
  const others = search.slice(1).split('&')
  const rest = others.filter(pair => pair !== '' && !own.has(pair))
  return rest.length === 0 ? '' : `?${rest.join('&')}`
}

/** What a target's own address is called by us: the suffix and query of a URL of it, or undefined where it is none. */
export const suffixOf = (target: PassthroughTarget, url: URL): { suffix: string; search: string } | undefined => {
  const { base, path, query } = target
  if (url.origin !== target.url.origin) return undefined
  if (url.pathname !== path && url.pathname !== base && !url.pathname.startsWith(`${base}/`)) return undefined
  const suffix = url.pathname === path ? '' : url.pathname.slice(base.length)
  return { suffix, search: withoutOwn(url.search, query) }
}
