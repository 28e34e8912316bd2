import { createCounts } from '../../lib/worker/fair-queue.ts'
import type { Caller } from '../../servers/access/access.ts'
import type { PassedTarget } from '../route/target.ts'

/** Maximum depth of nested escapes. Legitimate clients need fewer levels. */
const MAX_DECODINGS = 8

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Normalizes a path, so that different spellings that an upstream may treat as equal become equal. */
const plainPath = (path: string): string => {
  let text = path
  for (let times = 0; times < MAX_DECODINGS && text.includes('%'); times++) text = decode(text)
  return text
    .replaceAll('\\', '/')
    .replaceAll(/;[^/]*/g, '')
    .replaceAll(/\/+/g, '/')
    .replace(/\/$/, '')
    .toLowerCase()
}

/** The user id for anonymous callers. */
const ANONYMOUS = ''

/** Returns the key for a server, a user and an address, whatever escapes the address contains. */
const addressKey = (serverId: string, user: string, { suffix, search }: PassedTarget): string =>
  `${serverId} ${user} ${decode(suffix)} ${decode(search)}`

const pathKey = (serverId: string, { suffix }: PassedTarget): string => `${serverId} path ${plainPath(suffix)}`

/**
 * Tracks the addresses to which the clients of open HTTP+SSE streams post. Only the address
 * identifies a stream, so only the stream's caller may post to it. An upstream may accept other
 * spellings of the address, so other requests to the same path are refused.
 */
export const createMessageAddresses = () => {
  const streams = createCounts()
  return {
    /** Reserves an address for its caller until the returned function is called. */
    claim: (serverId: string, address: PassedTarget, caller: Caller): (() => void) => {
      const keys = [pathKey(serverId, address), addressKey(serverId, caller?.userId ?? ANONYMOUS, address)]
      for (const key of keys) streams.add(key, 1)
      return () => {
        for (const key of keys) streams.add(key, -1)
      }
    },
    /** Returns whether this caller may post to the address. */
    isAllowed: (serverId: string, target: PassedTarget, caller: Caller): boolean =>
      streams.of(pathKey(serverId, target)) === 0 ||
      [ANONYMOUS, caller?.userId ?? ANONYMOUS].some(user => streams.of(addressKey(serverId, user, target)) > 0),
  }
}
