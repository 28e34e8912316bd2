import type { MailQueue } from '../../identity/mail/mail-queue.ts'
import type { Database } from '../../lib/db/client.ts'
import type { Changes } from '../../lib/events/changes.ts'
import type { Mailer } from '../../lib/mail/mailer.ts'
import type { Webhook } from '../webhook.ts'
import { auditWebhook } from '../webhooks.service.ts'
import { disableWebhook, listManagerEmails } from '../webhooks.store.ts'

export type DisablingParts = {
  db: Database
  changes: Changes
  mailer: Pick<Mailer, 'send'>
  mailQueue: MailQueue
  baseUrl: string
}

const emailTo = (to: string, { id, address, description }: Webhook, reason: string, baseUrl: string) => ({
  to,
  subject: 'A webhook of your organization was disabled',
  text: `${[
    `Patchbay at ${baseUrl} stopped sending events to the webhook ${description ?? address} (${address}).`,
    reason,
    `To send events again, make sure that the receiver responds with a 2xx status, then enable the webhook and replay what it missed:\n${baseUrl}/webhooks/${id}`,
  ].join('\n\n')}\n`,
})

/** Returns a function that disables a webhook, and tells those who manage its organization. */
export const createDisabling =
  ({ db, changes, mailer, mailQueue, baseUrl }: DisablingParts) =>
  async (webhookId: string, reason: string): Promise<void> => {
    const disabled = await changes.commit(async tx => {
      const webhook = await disableWebhook(tx, webhookId, reason)
      if (webhook !== undefined) await auditWebhook(tx, undefined, 'webhook.disabled', webhook, { reason })
      return webhook
    })
    if (disabled === undefined) return
    for (const to of await listManagerEmails(db, disabled.organizationId)) {
      mailQueue.post('webhook disabled', () => mailer.send(emailTo(to, disabled, reason, baseUrl)))
    }
  }
