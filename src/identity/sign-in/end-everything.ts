import type { Transaction } from '../platform/db/index.ts'
import type { EndGrantsOf } from './mail-parts.ts'
import { removeMailedLinks } from './mailed-links.store.ts'
import { removeSessions } from './sessions.store.ts'

/**
 * Ends what another password's holder may have opened: sessions, what applications may do, links in the mail. Personal
 * access tokens stay: they are for scripts, and are ended one by one (a reset that is the first proof of the address
 * ends them too). Answers how much it was, for the audit log.
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
