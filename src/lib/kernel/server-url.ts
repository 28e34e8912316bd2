/** Returns a server's URL for MCP clients. */
export const serverUrl = (baseUrl: string, serverId: string): string => `${baseUrl}/s/${serverId}`

/**
 * Matches endings that clients may append to a server's URL: a trailing slash, and `?list=` with a number. The number
 * makes clients that load the lists of an address only once load them again.
 */
export const URL_ENDING = String.raw`/?(?:\?list=\d{1,16})?`

const SERVER_WITH_ENDING = new RegExp(`/s/[0-9a-f-]{36}(${URL_ENDING})$`, 'i')

/** Returns what a client appended to the URL of a server, or of its metadata; '' for any other URL. */
export const urlEndingOf = (url: string): string => SERVER_WITH_ENDING.exec(url)?.[1] ?? ''

/** Matches a request target with a trailing slash after a server's path, or after that of its metadata. */
const WITH_SLASH = /^((?:https?:\/\/[^/?#]*)?(?:\/\.well-known\/[a-z-]{1,40})?\/s\/[0-9a-f-]{36})\/(?=\?|$)/i

/** Removes the slash at the end of a server's path, so that routes need no other path for it. */
export const withoutServerSlash = (target: string): string => target.replace(WITH_SLASH, '$1')
