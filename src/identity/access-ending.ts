import type { Transaction } from '../lib/db/client.ts'
import type { MailFlowParts } from './account-parts.ts'
import { removeIdentitiesOf } from './external/external-identities.store.ts'
import { removeMailedLinks } from './mail/mailed-links.store.ts'
import { removeSecondFactor } from './second-factor/second-factor.store.ts'
import { removeSessions } from './sign-in/sessions.store.ts'
import { removeTokensOf } from './tokens/tokens.store.ts'

type EndGrantsOf = MailFlowParts['endGrantsOf']

/** Ends all sessions and emailed links of a user. Like the functions below, returns counts for the audit log. */
export const endSessions = async (tx: Transaction, userId: string) => {
  await removeMailedLinks(tx, userId)
  return { sessionsEnded: await removeSessions(tx, userId, undefined) }
}

/** Revokes all personal access tokens and connected clients of a user. */
export const revokeAccess = async (tx: Transaction, userId: string, endGrantsOf: EndGrantsOf) => ({
  tokensRemoved: await removeTokensOf(tx, userId),
  grantsEnded: await endGrantsOf(tx, userId),
})

/**
 * Ends everything that gives access to an account, except its password. Used when somebody proves for the first time
 * that they receive its mail, because somebody else may have used the account until then. The caller replaces or removes
 * the password.
 */
export const endEverything = async (tx: Transaction, userId: string, endGrantsOf: EndGrantsOf) => ({
  ...(await endSessions(tx, userId)),
  ...(await revokeAccess(tx, userId, endGrantsOf)),
  secondFactorRemoved: await removeSecondFactor(tx, userId),
  identitiesRemoved: await removeIdentitiesOf(tx, userId),
})
