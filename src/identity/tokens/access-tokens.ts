import type { Transaction } from '../../lib/db/client.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import { type Actor, SCOPES, type Scope } from '../../lib/kernel/actor.ts'
import { DAY_MS } from '../../lib/kernel/durations.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import type { AccessToken } from '../account.ts'
import type { AccountParts } from '../account-parts.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { hashToken, makeToken } from '../credentials.ts'
import { assertConfirmed } from '../unconfirmed.ts'
import * as store from './tokens.store.ts'

/** Default and maximum lifetime of a token, in days. */
export const DEFAULT_TOKEN_DAYS = 90
export const MAX_TOKEN_DAYS = 365
/** Maximum lifetime of a token, in days, until the user has confirmed their email. */
export const UNCONFIRMED_TOKEN_DAYS = 1

const LONG_TOKEN = 'create a token that is valid for more than a day'
const LONG_TOKEN_ERRORS = [
  { path: 'expiresInDays', message: `must be ${UNCONFIRMED_TOKEN_DAYS} until your email is confirmed` },
]

export type TokenInput = { name: string; scopes?: readonly Scope[] | undefined; expiresInDays?: number | undefined }

/** A new token and its value, which cannot be retrieved again. */
export type NewAccessToken = AccessToken & { token: string }

const targetOf = ({ id, name }: AccessToken) => ({ type: 'token', id, name })

/** Creates a token for a user. `actor` is that user, or undefined for the operator on the command line. */
export const issueToken = async (
  tx: Transaction,
  userId: string,
  { name, scopes = SCOPES, expiresInDays = DEFAULT_TOKEN_DAYS }: TokenInput,
  actor: Actor | undefined,
): Promise<NewAccessToken> => {
  const token = makeToken()
  // A token created by another token must not outlive it, so that nobody can extend the life of a leaked token.
  const latest = actor?.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY
  const expiresAt = new Date(Math.min(Date.now() + expiresInDays * DAY_MS, latest))
  const made = await store.createToken(tx, { userId, name, tokenHash: hashToken(token), scopes, expiresAt })
  const change = { userId, scopes: [...made.scopes], expiresAt: expiresAt.toISOString() }
  await writeAudit(tx, { action: 'token.created', actor, target: targetOf(made), change })
  return { ...made, token }
}

/** Returns the requested scopes, or all of the actor's. Throws `forbidden` for scopes that the actor lacks. */
const scopesFor = (actor: Actor, requested: readonly Scope[] | undefined): Scope[] => {
  const lacking = requested?.find(scope => !actor.scopes.has(scope))
  if (lacking !== undefined) {
    throw new AppError('forbidden', `A token without the scope "${lacking}" cannot create a token that has it.`)
  }
  return SCOPES.filter(scope => (requested === undefined ? actor.scopes.has(scope) : requested.includes(scope)))
}

const noToken = () => new AppError('not_found', 'There is no such token.')

/** Operations on the user's own tokens. Other users' tokens are treated as missing. */
export const createAccessTokens = ({ db, changes }: AccountParts) => ({
  /** Throws `conflict` if the email is not confirmed and the token would be valid for more than a day. */
  createToken: async (actor: Actor, requested: TokenInput): Promise<NewAccessToken> => {
    if (requested.expiresInDays !== UNCONFIRMED_TOKEN_DAYS) assertConfirmed(actor, LONG_TOKEN, LONG_TOKEN_ERRORS)
    const allowed = { ...requested, scopes: scopesFor(actor, requested.scopes) }
    return changes.commit(tx => issueToken(tx, actor.userId, allowed, actor))
  },

  listTokens: (actor: Actor, page: IdPage): Promise<AccessToken[]> => store.listTokens(db, actor.userId, page),

  getToken: async (actor: Actor, id: string): Promise<AccessToken> =>
    orThrow(await store.findToken(db, actor.userId, id), noToken),

  removeToken: (actor: Actor, id: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const removed = orThrow(await store.removeToken(tx, actor.userId, id), noToken)
      await writeAudit(tx, { action: 'token.removed', actor, target: targetOf(removed) })
      announce({ type: 'access_changed', userId: actor.userId })
    }),
})
