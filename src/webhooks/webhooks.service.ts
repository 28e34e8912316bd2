import { randomUUID } from 'node:crypto'
import { writeAudit } from '../identity/audit/audit.store.ts'
import type { AuditAction } from '../identity/audit/audit-entry.ts'
import type { Database, Transaction } from '../lib/db/client.ts'
import type { Changes } from '../lib/events/changes.ts'
import type { IdPage } from '../lib/http/id-paging.ts'
import { type Actor, assertMay, organizationIdsOf } from '../lib/kernel/actor.ts'
import { HOUR_MS } from '../lib/kernel/durations.ts'
import { AppError } from '../lib/kernel/errors.ts'
import type { JsonObject } from '../lib/kernel/json.ts'
import { orThrow } from '../lib/kernel/missing.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import { assertStillMay } from '../tenancy/current-role.ts'
import * as deliveries from './deliveries.store.ts'
import { newWebhookSecret } from './signature.ts'
import { type Delivery, MAX_WEBHOOKS, type Webhook } from './webhook.ts'
import { addressOf, OLD_SECRET_HOURS, openContent, sealContent } from './webhook-content.ts'
import type { CreateWebhook, UpdateWebhook } from './webhooks.schema.ts'
import * as store from './webhooks.store.ts'

export type WebhookServiceParts = { db: Database; changes: Changes; sealing: Sealing }

const DISABLED_BY_USER = 'A member disabled it.'

const getWebhook = async (tx: Transaction, actor: Actor, id: string): Promise<store.StoredWebhook> => {
  const found = await store.findWebhook(tx, id, organizationIdsOf(actor))
  const webhook = orThrow(found, () => new AppError('not_found', 'Webhook not found.'))
  assertMay(actor, webhook.organizationId, 'manage')
  return webhook
}

const getForChange = async (tx: Transaction, actor: Actor, id: string): Promise<store.StoredWebhook> => {
  const webhook = await getWebhook(tx, actor, id)
  await assertStillMay(tx, actor, webhook.organizationId, 'manage')
  return webhook
}

const getDelivery = async (tx: Transaction, actor: Actor, id: string): Promise<Delivery & { payload: string }> => {
  const found = await deliveries.findDelivery(tx, id, organizationIdsOf(actor))
  const delivery = orThrow(found, () => new AppError('not_found', 'Delivery not found.'))
  await getWebhook(tx, actor, delivery.webhookId)
  return delivery
}

/** Records a change of a webhook. Its description or address stands in for a name. */
export const auditWebhook = (
  tx: Transaction,
  actor: Actor | undefined,
  action: AuditAction,
  { id, organizationId, description, address }: Webhook,
  change?: JsonObject,
): Promise<void> =>
  writeAudit(tx, {
    action,
    actor,
    organizationId,
    target: { type: 'webhook', id, name: description ?? address },
    change,
  })

const assertRoom = async (tx: Transaction, organizationId: string): Promise<void> => {
  if ((await store.countWebhooks(tx, organizationId)) < MAX_WEBHOOKS) return
  throw new AppError('limit_exceeded', `An organization can have at most ${MAX_WEBHOOKS} webhooks. Delete one first.`)
}

const assertActive = ({ state }: Webhook): void => {
  if (state === 'active') return
  throw new AppError('conflict', 'This webhook is disabled. Enable it first.')
}

const shown = ({ address, description, events }: Webhook): JsonObject => ({
  url: address,
  description: description ?? null,
  events: [...events],
})

/** Manages webhooks and their deliveries, for those who manage the organization. */
export const createWebhookService = ({ db, changes, sealing }: WebhookServiceParts) => {
  const setState = async (
    tx: Transaction,
    actor: Actor,
    webhook: store.StoredWebhook,
    state: Webhook['state'],
  ): Promise<store.StoredWebhook> => {
    if (webhook.state === state) return webhook
    const changed =
      state === 'active'
        ? await store.enableWebhook(tx, webhook.id)
        : ((await store.disableWebhook(tx, webhook.id, DISABLED_BY_USER)) ?? webhook)
    await auditWebhook(tx, actor, state === 'active' ? 'webhook.enabled' : 'webhook.disabled', changed)
    return changed
  }

  const setFields = async (
    tx: Transaction,
    actor: Actor,
    webhook: store.StoredWebhook,
    { url, description, events }: UpdateWebhook,
  ): Promise<store.StoredWebhook> => {
    if (url === undefined && description === undefined && events === undefined) return webhook
    const content = openContent(sealing, webhook.id, webhook.sealed)
    const changed = await store.updateWebhook(tx, webhook.id, {
      description: description === undefined ? webhook.description : (description ?? undefined),
      address: url === undefined ? webhook.address : addressOf(url),
      events: events ?? webhook.events,
      sealed: sealContent(sealing, webhook.id, { ...content, url: url ?? content.url }),
    })
    await auditWebhook(tx, actor, 'webhook.changed', changed, { from: shown(webhook), to: shown(changed) })
    return changed
  }

  return {
    listWebhooks: async (actor: Actor, organizationId: string, page: IdPage): Promise<Webhook[]> => {
      assertMay(actor, organizationId, 'manage')
      return store.listWebhooks(db, organizationId, page)
    },

    getWebhook: (actor: Actor, id: string): Promise<Webhook> => getWebhook(db, actor, id),

    /** Adds a webhook. Returns its secret, which is not shown again. */
    addWebhook: (
      actor: Actor,
      organizationId: string,
      { url, description, events }: CreateWebhook,
    ): Promise<Webhook & { secret: string }> =>
      changes.commit(async tx => {
        await assertStillMay(tx, actor, organizationId, 'manage')
        await assertRoom(tx, organizationId)
        const id = randomUUID()
        const secret = newWebhookSecret()
        const sealed = sealContent(sealing, id, { url, secret })
        const fields = { id, organizationId, description, address: addressOf(url), events, sealed }
        const webhook = await store.addWebhook(tx, fields)
        await auditWebhook(tx, actor, 'webhook.created', webhook, { to: shown(webhook) })
        return { ...webhook, secret }
      }),

    changeWebhook: (actor: Actor, id: string, update: UpdateWebhook): Promise<Webhook> =>
      changes.commit(async tx => {
        const webhook = await getForChange(tx, actor, id)
        const changed = await setFields(tx, actor, webhook, update)
        return update.state === undefined ? changed : setState(tx, actor, changed, update.state)
      }),

    /** Makes a new secret and returns it. Events are signed with both until the old one expires. */
    renewSecret: (actor: Actor, id: string): Promise<{ secret: string }> =>
      changes.commit(async tx => {
        const webhook = await getForChange(tx, actor, id)
        const content = openContent(sealing, id, webhook.sealed)
        const secret = newWebhookSecret()
        const old = { secret: content.secret, until: Date.now() + OLD_SECRET_HOURS * HOUR_MS }
        const sealed = sealContent(sealing, id, { ...content, secret, old })
        await store.updateWebhook(tx, id, { ...webhook, sealed })
        await auditWebhook(tx, actor, 'webhook.secret_renewed', webhook)
        return { secret }
      }),

    removeWebhook: (actor: Actor, id: string): Promise<void> =>
      changes.commit(async tx => {
        const webhook = await getForChange(tx, actor, id)
        await store.removeWebhook(tx, id)
        await auditWebhook(tx, actor, 'webhook.removed', webhook)
      }),

    /** Adds a test event for the webhook to the outbox, from which it is sent like other events. */
    testWebhook: (actor: Actor, id: string): Promise<Delivery> =>
      changes.commit(async tx => {
        const webhook = await getForChange(tx, actor, id)
        assertActive(webhook)
        return deliveries.addTestDelivery(tx, webhook)
      }),

    /** Lists deliveries, newest first. Returns one beyond the page's limit if there are more. */
    listDeliveries: async (
      actor: Actor,
      webhookId: string,
      filter: deliveries.DeliveryFilter,
      page: IdPage,
    ): Promise<Delivery[]> => {
      await getWebhook(db, actor, webhookId)
      return deliveries.listDeliveries(db, webhookId, filter, page)
    },

    getDelivery: (actor: Actor, id: string) => getDelivery(db, actor, id),

    /** Delivers an event once more, with the same id and all attempts. */
    replayDelivery: (actor: Actor, id: string): Promise<Delivery> =>
      changes.commit(async tx => {
        const delivery = await getDelivery(tx, actor, id)
        assertActive(await getForChange(tx, actor, delivery.webhookId))
        return deliveries.restartDelivery(tx, delivery)
      }),
  }
}
export type WebhookService = ReturnType<typeof createWebhookService>
