import { createMailQueue } from '../identity/mail/mail-queue.ts'
import type { Database } from '../lib/db/client.ts'
import type { Changes } from '../lib/events/changes.ts'
import { MINUTE_MS } from '../lib/kernel/durations.ts'
import type { Mailer } from '../lib/mail/mailer.ts'
import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Logger } from '../lib/process/logger.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import type { Settings } from '../lib/process/settings.ts'
import { createEventMailService } from './event-mails.service.ts'
import { createMailSender } from './mail-sender.ts'
import { createStopLinks } from './stop-link.ts'

/** How long an email waits for more events. */
const DELAY_MS = MINUTE_MS
/** Shortest time between two emails to a member about the events of an organization. */
const PAUSE_MS = 15 * MINUTE_MS

/** Overrides for tests. */
export type EventMailTiming = { mailDelayMs?: number; mailPauseMs?: number }

export type EventMailsNeeds = {
  db: Database
  changes: Changes
  sealing: Pick<Sealing, 'derive'>
  logger: Logger
  mailer: Pick<Mailer, 'send' | 'isDelivering'>
  settings: Pick<Settings, 'baseUrl'>
  timing: EventMailTiming | undefined
}

/** How events get into emails: `delayMs` after the first one, `sendDue` sends what waits. */
export type EventMailing = { sendDue: () => Promise<void>; delayMs: number }

/** Creates the service with which members choose events that they get by email, and what sends these emails. */
export const eventMailsPlugin = (needs: EventMailsNeeds, lifecycle: Lifecycle) => {
  const { sealing, settings, logger, mailer, timing = {} } = needs
  const { baseUrl } = settings
  const stopLinks = createStopLinks(sealing, baseUrl)
  // A queue of its own, because emails about events can be many.
  const mailQueue = createMailQueue(logger)
  lifecycle.onClose(mailQueue.settle)
  const pauseMs = timing.mailPauseMs ?? PAUSE_MS
  const { sendDue } = createMailSender({ ...needs, mailQueue, stopLinks, baseUrl, pauseMs })
  return {
    eventMails: createEventMailService({ ...needs, stopLinks }),
    /** Undefined if the installation does not send email. */
    eventMailing: mailer.isDelivering ? { sendDue, delayMs: timing.mailDelayMs ?? DELAY_MS } : undefined,
  }
}
