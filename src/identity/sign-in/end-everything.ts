import type { Transaction } from '../../lib/db/client.ts'
import type { EndGrantsOf } from '../account-parts.ts'
import { removeMailedLinks } from '../mail/mailed-links.store.ts'
import { removeSessions } from './sessions.store.ts'

/**
 * Ends everything that a holder of the old password may have opened: sessions, application grants and emailed links.
 * Personal access tokens stay, as they are for scripts and revoked individually (a password reset that first verifies
 * the email revokes them too). Returns the counts for the audit log.
 */
export const endEverythingOf = async (
  tx: Transaction,
  userId: string,
  endGrantsOf: EndGrantsOf,
): Promise<{ sessionsEnded: number; grantsEnded: number }> => {
  const sessionsEnded = await removeSessions(tx, userId, undefined)
  await removeMailedLinks(tx, userId)
  return { sessionsEnded, grantsEnded: await endGrantsOf(tx, userId) }
}
