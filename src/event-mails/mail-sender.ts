import type { MailQueue } from '../identity/mail/mail-queue.ts'
import type { Database } from '../lib/db/client.ts'
import { MINUTE_MS } from '../lib/kernel/durations.ts'
import type { Mailer } from '../lib/mail/mailer.ts'
import { eventMail } from './event-mail-text.ts'
import type { StopLinks } from './stop-link.ts'
import * as store from './waiting-mails.store.ts'

/** Emails that wait in this process. Fewer than the mail queue takes. */
const MAX_AT_ONCE = 20
/** Events that one email describes. It counts the others. */
const MAX_DESCRIBED = 50
/** Pause before an email that could not be sent is tried again. */
const RETRY_MS = 15 * MINUTE_MS

export type MailSenderParts = {
  db: Database
  mailer: Pick<Mailer, 'send'>
  mailQueue: MailQueue
  stopLinks: Pick<StopLinks, 'linkTo'>
  baseUrl: string
  /** Shortest time between two emails to a member about the events of an organization. */
  pauseMs: number
}

/** Sends the events that wait for each member as one email. Several processes on one database share the work. */
export const createMailSender = ({ db, mailer, mailQueue, stopLinks, baseUrl, pauseMs }: MailSenderParts) => {
  const underWay = new Set<string>()

  /** Sends an email. Returns false if there was nothing to send. */
  const send = async (id: string, waiting: store.WaitingEvents): Promise<boolean> => {
    const reader = await store.findReader(db, id)
    if (reader === undefined || waiting.events.length === 0) return false
    const { events, ids, hasMore } = waiting
    const content = { organization: reader.organization, events, total: ids.length, hasMore }
    await mailer.send(eventMail(reader.email, content, baseUrl, stopLinks.linkTo(id)))
    return true
  }

  const sendLeased = async (mail: store.LeasedMail): Promise<void> => {
    let release: Parameters<typeof store.releaseMail>[2] = {
      sentAt: undefined,
      nextAt: new Date(Date.now() + RETRY_MS),
    }
    try {
      const waiting = await store.readWaitingEvents(db, mail.id, MAX_DESCRIBED)
      const isSent = await send(mail.id, waiting)
      await store.removeWaitingEvents(db, mail.id, waiting)
      const now = new Date()
      release = { sentAt: isSent ? now : undefined, nextAt: now }
    } finally {
      await store.releaseMail(db, mail, release)
    }
  }

  const sendOne = async (id: string): Promise<void> => {
    try {
      const mail = await store.leaseMail(db, id, pauseMs)
      if (mail !== undefined) await sendLeased(mail)
    } finally {
      underWay.delete(id)
    }
  }

  return {
    /** Queues the emails that are due. */
    sendDue: async (): Promise<void> => {
      const free = MAX_AT_ONCE - underWay.size
      if (free <= 0) return
      for (const id of await store.listDueMails(db, pauseMs, free)) {
        if (underWay.has(id)) continue
        underWay.add(id)
        mailQueue.post('events', () => sendOne(id))
      }
    },
  }
}
