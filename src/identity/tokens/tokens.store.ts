import type { Rows, Transaction } from '../../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../../lib/http/id-paging.ts'
import { SCOPES, type Scope } from '../../lib/kernel/actor.ts'
import { mapFound, withoutNulls } from '../../lib/kernel/missing.ts'
import type { AccessToken } from '../account.ts'
import { ACTING_USER, type ActingUser, toActingUser } from '../accounts.store.ts'
import { NOTE_USE_EVERY_MS } from './token-verifier.ts'

/** Ignores stored scopes that Patchbay no longer has. */
const toScopes = (stored: unknown): Scope[] =>
  SCOPES.filter(scope => Array.isArray(stored) && stored.some(item => item === scope))

const toAccessToken = ({ tokenHash: _, scopes, ...row }: Rows.AccessToken): AccessToken => ({
  ...withoutNulls(row),
  scopes: toScopes(scopes),
})

export const createToken = async (
  tx: Transaction,
  data: { userId: string; name: string; tokenHash: string; scopes: readonly Scope[]; expiresAt: Date },
): Promise<AccessToken> => toAccessToken(await tx.accessToken.create({ data: { ...data, scopes: [...data.scopes] } }))

export const listTokens = async (tx: Transaction, userId: string, page: IdPage): Promise<AccessToken[]> =>
  (await tx.accessToken.findMany(idPageQuery(page, { userId }))).map(toAccessToken)

export const findToken = async (tx: Transaction, userId: string, id: string): Promise<AccessToken | undefined> =>
  mapFound(await tx.accessToken.findFirst({ where: { id, userId } }), toAccessToken)

/** Removes one of the user's tokens and returns it, or undefined if they have none with this ID. */
export const removeToken = async (tx: Transaction, userId: string, id: string): Promise<AccessToken | undefined> => {
  const found = await findToken(tx, userId, id)
  if (found !== undefined) await tx.accessToken.deleteMany({ where: { id, userId } })
  return found
}

export const removeTokensOf = async (tx: Transaction, userId: string): Promise<number> =>
  (await tx.accessToken.deleteMany({ where: { userId } })).count

/** A token and its holder, read in one query by the indexed hash. */
export type TokenHolder = ActingUser & { token: AccessToken }

export const findTokenHolder = async (tx: Transaction, tokenHash: string): Promise<TokenHolder | undefined> => {
  const row = await tx.accessToken.findUnique({ where: { tokenHash }, include: { user: { select: ACTING_USER } } })
  return mapFound(row, ({ user, ...token }) => ({ ...toActingUser(user), token: toAccessToken(token) }))
}

/** Records a use, unless the token has been deleted or another process has just recorded a use. */
export const noteUse = async (tx: Transaction, id: string, usedAt: Date): Promise<void> => {
  const before = new Date(usedAt.getTime() - NOTE_USE_EVERY_MS)
  await tx.accessToken.updateMany({
    where: { id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lte: before } }] },
    data: { lastUsedAt: usedAt },
  })
}
