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

/**
 * Whose an answer is, as `keep` and `find` take it: a hash of the user and of what they call by, the id of an OAuth
 * client or of a personal access token. Without a caller: whoever knows the id.
 */
export const answerHolderOf = (caller: { userId: string; via: string } | undefined): string =>
  caller === undefined ? ANYONE : hash('sha256', JSON.stringify([caller.userId, caller.via]), 'base64url')

/**
 * What an answer is kept under, here and in the database. Server and holder are part of it, so that another's id is in
 * no way different from one that never was: there is nothing to compare, and nothing that takes longer.
 */
export const answerKeyOf = (serverId: string, holder: string, cacheId: string): string =>
  hash('sha256', JSON.stringify([serverId, holder, cacheId]), 'base64url')

/** Whose limits an answer counts towards: the holder's, or where that is anyone, the server's. */
export const callerOf = (serverId: string, holder: string): string =>
  holder === ANYONE ? `public ${serverId}` : holder
