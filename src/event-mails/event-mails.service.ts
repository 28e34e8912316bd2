import { assertConfirmed } from '../identity/unconfirmed.ts'
import type { Database } from '../lib/db/client.ts'
import type { Changes } from '../lib/events/changes.ts'
import { type Actor, assertMay } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import type { Mailer } from '../lib/mail/mailer.ts'
import type { EventType } from '../outbox/event-types.ts'
import { assertStillMay } from '../tenancy/current-role.ts'
import type { ChooseEventMails } from './event-mails.schema.ts'
import * as store from './event-mails.store.ts'
import type { StopLinks } from './stop-link.ts'

export type EventMailParts = {
  db: Database
  changes: Changes
  mailer: Pick<Mailer, 'isDelivering'>
  stopLinks: Pick<StopLinks, 'read'>
}

/** The events that a member gets by email. */
export type EventMails = { events: readonly EventType[]; isDelivered: boolean }

/** Lets those who manage an organization choose which of its events they get by email: they may see all of them. */
export const createEventMailService = ({ db, changes, mailer, stopLinks }: EventMailParts) => ({
  getEventMails: async (actor: Actor, organizationId: string): Promise<EventMails> => {
    assertMay(actor, organizationId, 'manage')
    const events = await store.findChosenEvents(db, organizationId, actor.userId)
    return { events: events ?? [], isDelivered: mailer.isDelivering }
  },

  chooseEventMails: (actor: Actor, organizationId: string, { events }: ChooseEventMails): Promise<EventMails> =>
    changes.commit(async tx => {
      await assertStillMay(tx, actor, organizationId, 'manage')
      assertConfirmed(actor, 'choose events to get by email')
      await store.storeChosenEvents(tx, organizationId, actor.userId, events)
      return { events, isDelivered: mailer.isDelivering }
    }),

  /** Ends the emails that contain this link, for whoever has one of them. */
  stopEventMails: async (token: string): Promise<void> => {
    const id = stopLinks.read(token)
    const isStopped = id !== undefined && (await changes.commit(tx => store.stopEventMails(tx, id)))
    if (isStopped) return
    throw new AppError('invalid_request', 'This link is not valid. Copy the whole link from the email.')
  },
})
export type EventMailService = ReturnType<typeof createEventMailService>
