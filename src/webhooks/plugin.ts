import type { EventMailing } from '../event-mails/plugin.ts'
import { createMailQueue } from '../identity/mail/mail-queue.ts'
import type { Database } from '../lib/db/client.ts'
import type { Changes } from '../lib/events/changes.ts'
import { MAX_SOCKETS_PER_ORIGIN } from '../lib/kernel/limits.ts'
import type { Mailer } from '../lib/mail/mailer.ts'
import { createHttpClient, type HttpClientOptions } from '../lib/outbound/client.ts'
import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Logger } from '../lib/process/logger.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import type { Settings } from '../lib/process/settings.ts'
import { removeOldEvents } from './deliveries.store.ts'
import { createDeliverer } from './delivery/deliverer.ts'
import { createDisabling } from './delivery/disabling.ts'
import { BACKOFF_MS } from './delivery/schedule.ts'
import { createWebhookService } from './webhooks.service.ts'

/** Overrides for tests. */
export type WebhookTiming = { backoffMs?: readonly number[]; pollMs?: number; ratesEveryMs?: number }

export type WebhooksNeeds = {
  db: Database
  changes: Changes
  sealing: Sealing
  logger: Logger
  mailer: Pick<Mailer, 'send'>
  settings: Pick<Settings, 'baseUrl'>
  network: Pick<HttpClientOptions, 'policy' | 'connectTimeoutMs' | 'ownOrigins' | 'findCreator' | 'lookup'>
  mailing: EventMailing | undefined
  timing: WebhookTiming | undefined
}

/** Creates the service for webhooks, and what delivers events to them once it is started. */
export const webhooksPlugin = (needs: WebhooksNeeds, lifecycle: Lifecycle) => {
  const { db, sealing, logger, network, settings, mailing, timing = {} } = needs
  const http = createHttpClient({ ...network, maxRedirects: 0, maxSockets: MAX_SOCKETS_PER_ORIGIN })
  lifecycle.onClose(http.close)
  const mailQueue = createMailQueue(logger)
  lifecycle.onClose(mailQueue.settle)
  const disable = createDisabling({ ...needs, mailQueue, baseUrl: settings.baseUrl })
  const schedule = { backoffMs: timing.backoffMs ?? BACKOFF_MS, random: Math.random }
  const deliverer = createDeliverer({ db, sealing, http, logger, schedule, disable, mailing, ...timing })
  lifecycle.onClose(deliverer.close)
  lifecycle.addChores({ name: 'remove old events', run: signal => removeOldEvents(db, new Date(), signal) })
  return { webhooks: createWebhookService(needs), deliverer }
}
