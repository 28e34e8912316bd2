import { hash, randomBytes } from 'node:crypto'

/** Size of an id: 128 bits, which is 22 characters. */
const ID_BYTES = 16
const CACHE_ID = /^[A-Za-z0-9_-]{22}$/

/** Returns a new id, with which a client can read the rest of a cut result. */
export const newCacheId = (): string => randomBytes(ID_BYTES).toString('base64url')

export const isCacheId = (text: string): boolean => CACHE_ID.test(text)

/** The holder of results from anonymous calls. On a public server, anyone who knows a result's id may open it. */
const ANYONE = ''

const hashOf = (...parts: readonly string[]): string => hash('sha256', JSON.stringify(parts), 'base64url')

/**
 * Returns a key that identifies who may open a result: a hash of the user id, and a hash of the
 * user id with `via` (the grant or token id).
 */
export const cutResultHolderOf = (caller: { userId: string; via: string } | undefined): string =>
  caller === undefined ? ANYONE : `${hashOf(caller.userId)}.${hashOf(caller.userId, caller.via)}`

/**
 * Returns the key of a result in memory and in the database. It includes server and holder, so looking up somebody
 * else's id misses exactly like looking up an unknown one.
 */
export const cacheKeyOf = (serverId: string, holder: string, cacheId: string): string =>
  hashOf(serverId, holder, cacheId)

/**
 * Returns the key of the limit that a result counts towards: one per user across all tokens, or one
 * per server for anonymous calls.
 */
export const callerOf = (serverId: string, holder: string): string =>
  holder === ANYONE ? `public ${serverId}` : (holder.split('.', 1)[0] ?? holder)
