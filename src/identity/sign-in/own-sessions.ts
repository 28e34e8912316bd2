import { type Actor, AppError } from '../kernel/index.ts'
import { writeAudit } from '../platform/audit/index.ts'
import type { Database } from '../platform/db/index.ts'
import type { Changes } from '../platform/events/index.ts'
import type { IdPage } from '../platform/http/index.ts'
import * as store from './sessions.store.ts'

/** A user's own sessions; those of others do not exist. `currentSid` is the id of the one that asks, if one does. */
export const createOwnSessions = ({ db, changes, now }: { db: Database; changes: Changes; now: () => number }) => ({
  listSessions: (actor: Actor, page: IdPage, currentSid: string | undefined): Promise<store.OwnSession[]> =>
    store.listSessions(db, { userId: actor.userId, now: new Date(now()), currentSid }, page),

  endOwnSession: (actor: Actor, id: string): Promise<void> =>
    changes.commit(async tx => {
      const isEnded = await store.removeSession(tx, actor.userId, id)
      if (!isEnded) throw new AppError('not_found', 'There is no such session.')
      await writeAudit(tx, { action: 'session.ended', actor, target: { type: 'session', id } })
    }),

  /** All but the one that asks. */
  endOtherSessions: (actor: Actor, currentSid: string | undefined): Promise<void> =>
    changes.commit(async tx => {
      const ended = await store.removeSessions(tx, actor.userId, currentSid)
      if (ended === 0) return
      await writeAudit(tx, { action: 'session.ended', actor, target: { type: 'session' }, change: { ended } })
    }),
})
