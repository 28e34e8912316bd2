import { hash, randomBytes } from 'node:crypto'

/** 128 bits, as 22 characters. */
const ID_BYTES = 16
const CACHE_ID = /^[A-Za-z0-9_-]{22}$/

/** What whoever shows it finds an answer by, if it is theirs. */
export const newCacheId = (): string => randomBytes(ID_BYTES).toString('base64url')

/** Whether a text could be one at all. */
export const isCacheId = (text: string): boolean => CACHE_ID.test(text)

/** Who answers belong to when nobody in particular calls: on a public server the id alone is the key. */
const ANYONE = ''

const hashOf = (...parts: readonly string[]): string => hash('sha256', JSON.stringify(parts), 'base64url')

/**
 * Whose an answer is, as `keep` and `find` take it: hashes of the user, and of the user with what they call by, the id
 * of a grant or of a personal access token. Without a caller: whoever knows the id.
 */
export const answerHolderOf = (caller: { userId: string; via: string } | undefined): string =>
  caller === undefined ? ANYONE : `${hashOf(caller.userId)}.${hashOf(caller.userId, caller.via)}`

/**
 * What an answer is kept under, here and in the database. Server and holder are part of it, so that another's id is in
 * no way different from one that never was: there is nothing to compare, and nothing that takes longer.
 */
export const answerKeyOf = (serverId: string, holder: string, cacheId: string): string =>
  hashOf(serverId, holder, cacheId)

/**
 * Whose limits an answer counts towards: the user's, who could else have as many shares as tokens, and there is no bound
 * to those; where the holder is anyone, the server's.
 */
export const callerOf = (serverId: string, holder: string): string =>
  holder === ANYONE ? `public ${serverId}` : (holder.split('.', 1)[0] ?? holder)
