import { serverUrl } from '../kernel/index.ts'

/** Longer ones are no address of a server. */
const MAX_RESOURCE_CHARACTERS = 512
/** A server's path, and that of its older transport, with or without a slash at its end. */
const SERVER_PATH = /^\/s\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\/sse)?\/?$/i

/**
 * Which server a resource indicator (RFC 8707) names. However scheme, host and id are written, with a slash at its end
 * or as the address of the older transport, it is one resource: the server's URL.
 */
export const createResources = (baseUrl: string) => {
  const { origin: ownOrigin } = new URL(baseUrl)
  const findServerId = (resource: string): string | undefined => {
    const url = resource.length > MAX_RESOURCE_CHARACTERS ? null : URL.parse(resource)
    if (url === null || url.origin !== ownOrigin || url.username !== '' || url.password !== '') return undefined
    // `search` and `hash` of a bare ? or # are empty.
    if (/[?#]/.test(resource)) return undefined
    return SERVER_PATH.exec(url.pathname)?.[1]?.toLowerCase()
  }
  return {
    findServerId,
    urlOf: (serverId: string): string => serverUrl(baseUrl, serverId),
    /** The one way to write it; what names no server comes back as it is. */
    spell: (resource: string): string => {
      const serverId = findServerId(resource)
      return serverId === undefined ? resource : serverUrl(baseUrl, serverId)
    },
  }
}
export type Resources = ReturnType<typeof createResources>
