import { z } from 'zod'
import { readOnlyField, readOnlyTimes } from '../lib/http/pages/read-only.ts'
import { absentable, nameUpTo, orNull, timeSchema } from '../lib/http/schemas.ts'
import { EVENT_TYPES_LIST, eventType, inOrder } from '../outbox/event-types.schema.ts'

const MAX_URL_CHARACTERS = 2_000

const isWebUrl = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== ''
}

const url = z
  .string()
  .trim()
  .max(MAX_URL_CHARACTERS, `is longer than ${MAX_URL_CHARACTERS} characters`)
  .refine(isWebUrl, 'is not an http or https URL')
  .refine(text => URL.parse(text)?.username === '' && URL.parse(text)?.password === '', {
    error: 'contains a user name or a password',
    when: ({ value }) => typeof value === 'string' && isWebUrl(value),
  })

const description = nameUpTo(200)

const events = z
  .array(eventType)
  .min(1, 'choose at least one')
  .transform(inOrder)
  .describe(`types of the events to send:\n\n${EVENT_TYPES_LIST}`)

export const CreateWebhook = z.strictObject({
  url: url.describe('where events are sent; its query is never shown again'),
  description: absentable(description),
  events,
})
export type CreateWebhook = z.infer<typeof CreateWebhook>

export const UpdateWebhook = z.strictObject({
  id: readOnlyField,
  organizationId: readOnlyField,
  disabledReason: readOnlyField,
  failingSince: readOnlyField,
  ...readOnlyTimes,
  url: url.optional(),
  description: description.nullish(),
  events: events.optional(),
  state: z.enum(['active', 'disabled']).optional(),
})
export type UpdateWebhook = z.infer<typeof UpdateWebhook>

export const WebhookView = z
  .object({
    id: z.uuid(),
    organizationId: z.uuid(),
    url: z.string().describe('without the values in its query'),
    description: orNull(z.string()),
    events: z.array(eventType),
    state: z.enum(['active', 'disabled']),
    disabledReason: orNull(z.string()),
    failingSince: orNull(timeSchema).describe('since when no delivery has succeeded; null after a success'),
    createdAt: timeSchema,
    updatedAt: timeSchema,
  })
  .meta({ id: 'Webhook' })

export const WebhookSecretView = z
  .object({ secret: z.string().describe('signs the events, as Standard Webhooks define; it is not shown again') })
  .meta({ id: 'WebhookSecret' })

export const NewWebhookView = WebhookView.extend(WebhookSecretView.shape).meta({ id: 'NewWebhook' })

export const DeliveryView = z
  .object({
    id: z.uuid(),
    webhookId: z.uuid(),
    eventId: z.uuid().describe('the `webhook-id` header, the same for every attempt'),
    type: z.string(),
    happenedAt: timeSchema,
    state: z.enum(['waiting', 'delivered', 'failed']),
    attempts: z.int(),
    nextAt: orNull(timeSchema).describe('the next attempt; null unless it is waiting'),
    triedAt: orNull(timeSchema).describe('the last attempt'),
    lastMs: orNull(z.number()),
    lastStatus: orNull(z.int()),
    lastError: orNull(z.string()),
    lastResponse: orNull(z.string()).describe('the beginning of the response'),
    createdAt: timeSchema,
    updatedAt: timeSchema,
  })
  .meta({ id: 'WebhookDelivery' })

export const DeliveryDetailView = DeliveryView.extend({
  payload: z.string().describe('the body of the request'),
}).meta({ id: 'WebhookDeliveryDetail' })
