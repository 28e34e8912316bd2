import { type BoundedFetch, createBoundedFetch, type FetchBounds } from '../../lib/outbound/bounded-fetch.ts'
import type { Credential } from '../../lib/outbound/credentials.ts'
import type { HttpClient } from '../../lib/outbound/outbound-request.ts'
import type { ResolvedConfig } from '../upstream.ts'

/** The URL of a remote upstream, and its configured headers with the secrets in them. */
export type UpstreamHeaders = {
  url: string
  headers: Readonly<Record<string, string>>
  credentials: readonly Credential[]
}

/** Returns the configured headers of a remote upstream. Undefined for a command. */
export const headersOf = (config: ResolvedConfig): UpstreamHeaders | undefined => {
  if (config.transport === 'stdio') return undefined
  const { url, headers, credentials } = config
  return { url, headers, credentials }
}

/**
 * Returns a `fetch` for OAuth requests that are made for an organization. The upstream's configured headers go along to
 * its own origin, because a proxy in front of it may require them, and to no other origin. Requests to endpoints that an
 * authorization server names have its `issuer`. An issuer at another origin could name any address of the upstream, so
 * the headers do not go along there.
 */
export type OAuthFetchFor = (
  organizationId: string,
  upstream: UpstreamHeaders | undefined,
  issuer: string | undefined,
) => BoundedFetch

const originOf = (url: string | URL): string | undefined => URL.parse(String(url))?.origin

export const createOAuthFetchFor =
  (client: Pick<HttpClient, 'send'>, bounds: FetchBounds): OAuthFetchFor =>
  (organizationId, upstream, issuer) => {
    const plain = createBoundedFetch(client, { ...bounds, organizationId })
    if (upstream === undefined) return plain
    const { url: upstreamUrl, headers: configured, credentials } = upstream
    const origin = originOf(upstreamUrl)
    if (issuer !== undefined && originOf(issuer) !== origin) return plain
    const withHeaders = createBoundedFetch(client, { ...bounds, organizationId, credentials })
    return (url, request = {}) => {
      if (originOf(url) !== origin) return plain(url, request)
      const headers = new Headers(configured)
      for (const [name, value] of new Headers(request.headers)) headers.set(name, value)
      return withHeaders(url, { ...request, headers })
    }
  }
