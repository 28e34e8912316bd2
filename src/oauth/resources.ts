import { serverUrl } from '../lib/kernel/server-url.ts'

/** No server URL is longer. */
const MAX_RESOURCE_CHARACTERS = 512
/** A server's path, or that of its SSE transport, with or without a trailing slash. */
const SERVER_PATH = /^\/s\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\/sse)?\/?$/i

/**
 * Maps resource indicators (RFC 8707) to servers. Different spellings of scheme, host and id, a trailing slash, and the
 * SSE address all stand for one resource: the server's URL.
 */
export const createResources = (baseUrl: string) => {
  const { origin: ownOrigin } = new URL(baseUrl)
  const findServerId = (resource: string): string | undefined => {
    const url = resource.length > MAX_RESOURCE_CHARACTERS ? null : URL.parse(resource)
    if (url === null || url.origin !== ownOrigin || url.username !== '' || url.password !== '') return undefined
    // A trailing ? or # leaves `search` and `hash` empty.
    if (/[?#]/.test(resource)) return undefined
    return SERVER_PATH.exec(url.pathname)?.[1]?.toLowerCase()
  }
  return {
    findServerId,
    urlOf: (serverId: string): string => serverUrl(baseUrl, serverId),
    /** Returns the canonical form. A resource that is not a server is returned unchanged. */
    canonicalize: (resource: string): string => {
      const serverId = findServerId(resource)
      return serverId === undefined ? resource : serverUrl(baseUrl, serverId)
    },
  }
}
export type Resources = ReturnType<typeof createResources>
