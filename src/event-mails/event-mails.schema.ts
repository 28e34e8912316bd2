import { z } from 'zod'
import { EVENT_TYPES_LIST, eventType, inOrder } from '../outbox/event-types.schema.ts'

export const ChooseEventMails = z.strictObject({
  events: z
    .array(eventType)
    .transform(inOrder)
    .describe(`types of the events to get by email; none ends the emails:\n\n${EVENT_TYPES_LIST}`),
})
export type ChooseEventMails = z.infer<typeof ChooseEventMails>

export const EventMailsView = z
  .object({
    events: z.array(eventType),
    isDelivered: z.boolean().describe('whether this installation sends email'),
  })
  .meta({ id: 'EventMails' })
