import { vi } from 'vitest'
import { z } from 'zod'
import type { ApiClient } from '../support/api-client.ts'
import type { DatabaseKindForTests } from '../support/databases.ts'
import { runPatchbay } from '../support/world.ts'

/** Attempts and emails follow each other at once, and the outbox is looked at often. */
const QUICK = { backoffMs: [0, 0], pollMs: 10, ratesEveryMs: 10, mailDelayMs: 0, mailPauseMs: 0 }

/** Runs an application that delivers events to webhooks and by email, for the tests of a block. */
export const runDelivering = (kind: DatabaseKindForTests, options: { hasMail?: boolean } = {}) =>
  runPatchbay({ kind, ...options, services: { webhooks: QUICK, connectionLimits: { retryDelaysMs: [10] } } })

const NewWebhook = z.looseObject({ id: z.uuid(), secret: z.string() })
type NewWebhook = z.infer<typeof NewWebhook>

export const addWebhook = async (
  api: ApiClient & { organizationId: string },
  url: string,
  events: readonly string[],
): Promise<NewWebhook> =>
  NewWebhook.parse((await api.expectOk('POST', `/organizations/${api.organizationId}/webhooks`, { url, events })).body)

const Deliveries = z.object({
  items: z.array(
    z.looseObject({
      id: z.uuid(),
      eventId: z.uuid(),
      type: z.string(),
      state: z.string(),
      attempts: z.number(),
      lastStatus: z.number().nullable(),
      lastError: z.string().nullable(),
      lastResponse: z.string().nullable(),
    }),
  ),
})

const deliveriesOf = async (api: ApiClient, webhookId: string) =>
  Deliveries.parse((await api.expectOk('GET', `/webhooks/${webhookId}/deliveries`)).body).items

/** Resolves with the deliveries of a webhook once none of them is waiting and there are at least this many. */
export const settledDeliveriesOf = async (api: ApiClient, webhookId: string, count = 1) => {
  const settled = async () => {
    const items = await deliveriesOf(api, webhookId)
    return items.length >= count && items.every(({ state }) => state !== 'waiting') ? items : undefined
  }
  return (await vi.waitUntil(settled, { timeout: 20_000, interval: 10 })) ?? []
}
