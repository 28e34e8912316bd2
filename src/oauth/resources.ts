import { listOwnOrigins } from '../lib/http/origins.ts'
import { serverUrl, URL_ENDING } from '../lib/kernel/server-url.ts'

/** Maximum length of a resource. Server URLs are shorter. */
const MAX_RESOURCE_CHARACTERS = 512
/** Matches a server's path or its SSE path, with what clients may append to it. */
const SERVER_PATH = new RegExp(`^/s/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:/sse)?${URL_ENDING}$`, 'i')

/**
 * Maps resource indicators (RFC 8707) to servers. A resource is the server's URL, possibly with a different spelling of
 * scheme, host or id, another loopback name if the base URL has one, a trailing slash, `?list=` with a number, or the
 * path of the SSE transport.
 */
export const createResources = (baseUrl: string) => {
  const ownOrigins: ReadonlySet<string> = new Set(listOwnOrigins(baseUrl))
  const findServerId = (resource: string): string | undefined => {
    const url = resource.length > MAX_RESOURCE_CHARACTERS ? null : URL.parse(resource)
    if (url === null || !ownOrigins.has(url.origin) || url.username !== '' || url.password !== '') return undefined
    // `search` and `hash` are also empty for a bare trailing ? or #.
    if (/[?#]$/.test(resource) || url.hash !== '') return undefined
    return SERVER_PATH.exec(`${url.pathname}${url.search}`)?.[1]?.toLowerCase()
  }
  return {
    findServerId,
    urlOf: (serverId: string): string => serverUrl(baseUrl, serverId),
    /** Returns the canonical form of a resource, or the resource itself if it is not a server. */
    canonicalize: (resource: string): string => {
      const serverId = findServerId(resource)
      return serverId === undefined ? resource : serverUrl(baseUrl, serverId)
    },
  }
}
export type Resources = ReturnType<typeof createResources>
