import type { Database, Rows, Transaction } from '../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../lib/http/id-paging.ts'
import { mapFound, withoutNulls } from '../lib/kernel/missing.ts'
import type { Sealed } from '../lib/process/sealing.ts'
import { type EventType, fromStoredTypes, toStoredTypes } from '../outbox/event-types.ts'
import type { Webhook } from './webhook.ts'

export type StoredWebhook = Webhook & { sealed: Sealed }

const toWebhook = (row: Rows.Webhook): StoredWebhook => {
  const { content, keyId, events, dueAt, leasedUntil, lease, ...rest } = withoutNulls(row)
  return { ...rest, events: fromStoredTypes(events), sealed: { text: content, keyId } }
}

export const listWebhooks = async (db: Database, organizationId: string, page: IdPage): Promise<StoredWebhook[]> =>
  (await db.webhook.findMany(idPageQuery(page, { organizationId }))).map(toWebhook)

export const countWebhooks = (tx: Transaction, organizationId: string): Promise<number> =>
  tx.webhook.count({ where: { organizationId } })

/** Finds a webhook in one of these organizations. */
export const findWebhook = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<StoredWebhook | undefined> =>
  mapFound(await tx.webhook.findFirst({ where: { id, organizationId: { in: [...organizationIds] } } }), toWebhook)

type WebhookFields = {
  description: string | undefined
  address: string
  events: readonly EventType[]
  sealed: Sealed
}

const toColumns = ({ description, address, events, sealed }: WebhookFields) => ({
  description: description ?? null,
  address,
  events: toStoredTypes(events),
  content: sealed.text,
  keyId: sealed.keyId,
})

export const addWebhook = async (
  tx: Transaction,
  { id, organizationId, ...fields }: WebhookFields & { id: string; organizationId: string },
): Promise<StoredWebhook> => toWebhook(await tx.webhook.create({ data: { id, organizationId, ...toColumns(fields) } }))

export const updateWebhook = async (tx: Transaction, id: string, fields: WebhookFields): Promise<StoredWebhook> =>
  toWebhook(await tx.webhook.update({ where: { id }, data: toColumns(fields) }))

export const removeWebhook = async (tx: Transaction, id: string): Promise<void> => {
  await tx.webhook.delete({ where: { id } })
}

/** Makes a disabled webhook active. */
export const enableWebhook = async (tx: Transaction, id: string): Promise<StoredWebhook> =>
  toWebhook(
    await tx.webhook.update({ where: { id }, data: { state: 'active', disabledReason: null, failingSince: null } }),
  )

/** Disables an active webhook and gives up its waiting deliveries. Returns undefined if it is not active. */
export const disableWebhook = async (
  tx: Transaction,
  id: string,
  disabledReason: string,
): Promise<StoredWebhook | undefined> => {
  const where = { id, state: 'active' } as const
  const { count } = await tx.webhook.updateMany({ where, data: { state: 'disabled', disabledReason, dueAt: null } })
  if (count === 0) return undefined
  await tx.delivery.updateMany({
    where: { webhookId: id, state: 'waiting' },
    data: { state: 'failed', nextAt: null, lastError: 'The webhook was disabled before this could be delivered.' },
  })
  return mapFound(await tx.webhook.findUnique({ where: { id } }), toWebhook)
}

/** Returns the ids of the master keys that are still needed to open webhooks. */
export const listWebhookSealingKeyIds = async (tx: Transaction): Promise<string[]> =>
  (await tx.webhook.groupBy({ by: ['keyId'] })).map(({ keyId }) => keyId)

/** Returns the email addresses of those who manage the organization. */
export const listManagerEmails = async (db: Database, organizationId: string): Promise<string[]> => {
  const rows = await db.membership.findMany({
    where: { organizationId, role: { in: ['owner', 'admin'] } },
    select: { user: { select: { email: true } } },
  })
  return rows.map(({ user }) => user.email)
}
