import { type Actor, AppError, SCOPES, type Scope } from '../kernel/index.ts'
import type { Database, Transaction } from '../platform/db/index.ts'
import type { Changes } from '../platform/events/index.ts'
import type { IdPage } from '../platform/http/index.ts'
import type { AccessToken } from './account.ts'
import { auditNewToken, auditRemovedToken } from './account-audit.ts'
import { hashToken, makeToken } from './credentials.ts'
import * as store from './tokens.store.ts'

/** A token that says nothing else is good for this long, and none is for longer than a year. */
export const DEFAULT_TOKEN_DAYS = 90
export const MAX_TOKEN_DAYS = 365
const DAY_MS = 24 * 60 * 60 * 1_000

export type TokenWish = { name: string; scopes?: readonly Scope[] | undefined; expiresInDays?: number | undefined }

/** A token just made: the only time that it is seen. */
export type NewAccessToken = AccessToken & { token: string }

/** Makes a token for a user. Without an `actor`, who is that user, it is the operator at the command line who does. */
export const issueToken = async (
  tx: Transaction,
  userId: string,
  { name, scopes = SCOPES, expiresInDays = DEFAULT_TOKEN_DAYS }: TokenWish,
  now: number,
  actor: Actor | undefined,
): Promise<NewAccessToken> => {
  const token = makeToken()
  // One made with a token does not outlive it: who found a token does not keep what it opened.
  const latest = actor?.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY
  const expiresAt = new Date(Math.min(now + expiresInDays * DAY_MS, latest))
  const made = await store.createToken(tx, { userId, name, tokenHash: hashToken(token), scopes, expiresAt })
  await auditNewToken(tx, actor, made)
  return { ...made, token }
}

/** The scopes wished for, or else all that the maker has: no token makes one that may do more than itself. */
const scopesFor = (actor: Actor, wished: readonly Scope[] | undefined): Scope[] => {
  const lacking = wished?.find(scope => !actor.scopes.has(scope))
  if (lacking !== undefined) {
    throw new AppError('forbidden', `A token without the scope "${lacking}" cannot make one that has it.`)
  }
  return SCOPES.filter(scope => (wished === undefined ? actor.scopes.has(scope) : wished.includes(scope)))
}

/** A user's own tokens; those of others do not exist. */
export const createAccessTokens = ({ db, changes, now }: { db: Database; changes: Changes; now: () => number }) => ({
  createToken: (actor: Actor, wish: TokenWish): Promise<NewAccessToken> => {
    const allowed = { ...wish, scopes: scopesFor(actor, wish.scopes) }
    return changes.commit(tx => issueToken(tx, actor.userId, allowed, now(), actor))
  },

  listTokens: (actor: Actor, page: IdPage): Promise<AccessToken[]> => store.listTokens(db, actor.userId, page),

  getToken: async (actor: Actor, id: string): Promise<AccessToken> => {
    const token = await store.findToken(db, actor.userId, id)
    if (token === undefined) throw new AppError('not_found', 'There is no such token.')
    return token
  },

  removeToken: (actor: Actor, id: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const removed = await store.removeToken(tx, actor.userId, id)
      if (removed === undefined) throw new AppError('not_found', 'There is no such token.')
      await auditRemovedToken(tx, actor, removed)
      announce({ type: 'access_changed', userId: actor.userId })
    }),
})
