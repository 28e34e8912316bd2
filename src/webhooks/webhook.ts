import type { EventType } from '../outbox/event-types.ts'

export type WebhookState = 'active' | 'disabled'

export type Webhook = {
  id: string
  organizationId: string
  description: string | undefined
  /** The URL, without the values in its query. */
  address: string
  events: readonly EventType[]
  state: WebhookState
  disabledReason: string | undefined
  /** Since when no delivery has succeeded; undefined after a success. */
  failingSince: Date | undefined
  createdAt: Date
  updatedAt: Date
}

export type DeliveryState = 'waiting' | 'delivered' | 'failed'

export type Delivery = {
  id: string
  webhookId: string
  eventId: string
  type: string
  happenedAt: Date
  state: DeliveryState
  /** Attempts since it was made or replayed. */
  attempts: number
  nextAt: Date | undefined
  triedAt: Date | undefined
  lastMs: number | undefined
  lastStatus: number | undefined
  lastError: string | undefined
  lastResponse: string | undefined
  createdAt: Date
  updatedAt: Date
}

/** Maximum number of webhooks of an organization. Each event is sent to all that chose its type. */
export const MAX_WEBHOOKS = 20
