import type { IdPage } from '../../lib/http/id-paging.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { AccountParts } from '../account-parts.ts'
import { writeAudit } from '../audit/audit.store.ts'
import * as store from './sessions.store.ts'

/**
 * Operations on the user's own sessions. Other users' sessions are treated as missing. `currentSid` is the requesting
 * session, if there is one.
 */
export const createOwnSessions = ({ db, changes }: AccountParts) => ({
  listSessions: (actor: Actor, page: IdPage, currentSid: string | undefined): Promise<store.OwnSession[]> =>
    store.listSessions(db, actor.userId, page, currentSid),

  endOwnSession: (actor: Actor, id: string): Promise<void> =>
    changes.commit(async tx => {
      const isEnded = await store.removeSession(tx, actor.userId, id)
      if (!isEnded) throw new AppError('not_found', 'There is no such session.')
      await writeAudit(tx, { action: 'session.ended', actor, target: { type: 'session', id } })
    }),

  /** Ends all sessions except the requesting one. */
  endOtherSessions: (actor: Actor, currentSid: string | undefined): Promise<void> =>
    changes.commit(async tx => {
      const ended = await store.removeSessions(tx, actor.userId, currentSid)
      if (ended === 0) return
      await writeAudit(tx, { action: 'session.ended', actor, target: { type: 'session' }, change: { ended } })
    }),
})
