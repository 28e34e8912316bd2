import { type Actor, AppError, SCOPES, type Scope } from '../kernel/index.ts'
import type { Database } from '../platform/db/index.ts'
import type { Changes } from '../platform/events/index.ts'
import type { IdPage } from '../platform/http/index.ts'
import type { AccessToken } from './account.ts'
import { hashToken, makeToken } from './credentials.ts'
import * as store from './tokens.store.ts'

/** A token that says nothing else is good for this long, and none is for longer than a year. */
export const DEFAULT_TOKEN_DAYS = 90
export const MAX_TOKEN_DAYS = 365
const DAY_MS = 24 * 60 * 60 * 1_000

export type TokenWish = { name: string; scopes?: readonly Scope[] | undefined; expiresInDays?: number | undefined }

/** A token just made: the only time that it is seen. */
export type NewAccessToken = AccessToken & { token: string }

/** Makes a token that ends at `latest`, where there is that, even if it was wished for longer. */
export const issueToken = async (
  db: Database,
  userId: string,
  { name, scopes = SCOPES, expiresInDays = DEFAULT_TOKEN_DAYS }: TokenWish,
  now: number,
  latest: Date | undefined,
): Promise<NewAccessToken> => {
  const token = makeToken()
  const expiresAt = new Date(Math.min(now + expiresInDays * DAY_MS, latest?.getTime() ?? Number.POSITIVE_INFINITY))
  const made = await store.createToken(db, { userId, name, tokenHash: hashToken(token), scopes, expiresAt })
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
  /** One made with a token does not outlive it: who found a token does not keep what it opened. */
  createToken: (actor: Actor, wish: TokenWish): Promise<NewAccessToken> =>
    issueToken(db, actor.userId, { ...wish, scopes: scopesFor(actor, wish.scopes) }, now(), actor.expiresAt),

  listTokens: (actor: Actor, page: IdPage): Promise<AccessToken[]> => store.listTokens(db, actor.userId, page),

  removeToken: (actor: Actor, id: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const isRemoved = await store.removeToken(tx, actor.userId, id)
      if (!isRemoved) throw new AppError('not_found', 'There is no such token.')
      announce({ type: 'access_changed', userId: actor.userId })
    }),
})
