import { z } from 'zod'
import { formatCount, shorten } from '../lib/kernel/format.ts'
import type { Mail } from '../lib/mail/mailer.ts'
import { EVENT_TYPES, isEventType } from '../outbox/event-types.ts'
import type { WaitingEvent } from './waiting-mails.store.ts'

/** Longest value that an email shows of an event. */
const MAX_VALUE_CHARACTERS = 200

const Data = z.record(z.string(), z.json())

const PAGES: Readonly<Record<string, string>> = {
  serverId: '/servers/',
  toolkitId: '/toolkits/',
}

const textOf = (value: z.infer<typeof Data>[string]): string => {
  const text = Array.isArray(value) ? value.join(', ') : typeof value === 'object' ? '' : String(value)
  return shorten(text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim(), MAX_VALUE_CHARACTERS)
}

/** Describes an event: when, what, its values except for ids, and the page of what it is about. */
const describe = ({ type, data, happenedAt }: WaitingEvent, baseUrl: string): string => {
  const fields = Object.entries(Data.parse(JSON.parse(data)))
  const values = fields.flatMap(([name, value]) => {
    const text = name.endsWith('Id') ? '' : textOf(value)
    return text === '' || value === null ? [] : [`  ${name}: ${text}`]
  })
  const pages = fields.flatMap(([name, id]) => {
    const path = PAGES[name]
    return path === undefined || typeof id !== 'string' ? [] : [`  ${baseUrl}${path}${id}`]
  })
  const title = isEventType(type) ? EVENT_TYPES[type] : type
  return [
    `${happenedAt.toISOString().slice(0, 19).replace('T', ' ')} UTC: ${title} (${type})`,
    ...values,
    ...pages,
  ].join('\n')
}

export type EventMailContent = {
  organization: { id: string; name: string }
  /** The events that are described. */
  events: readonly WaitingEvent[]
  total: number
  hasMore: boolean
}

const subjectOf = ({ organization, events, total, hasMore }: EventMailContent): string => {
  const [first] = events
  const name = organization.name.replaceAll(/\p{Cc}/gu, ' ')
  if (total > 1 || first === undefined) return `${name}: ${hasMore ? 'more than ' : ''}${formatCount(total, 'event')}`
  return `${name}: ${isEventType(first.type) ? EVENT_TYPES[first.type] : first.type}`
}

/** Builds one email about all events that were waiting. */
export const eventMail = (to: string, content: EventMailContent, baseUrl: string, stopLink: string): Mail => {
  const { organization, events, total, hasMore } = content
  const left = total - events.length
  const parts = [
    `Events of ${organization.name} on Patchbay at ${baseUrl}:`,
    ...events.map(event => describe(event, baseUrl)),
    ...(left > 0 ? [`And ${hasMore ? 'more than ' : ''}${formatCount(left, 'other event')}.`] : []),
    `You chose these emails. Choose other events:\n${baseUrl}/organizations/${organization.id}/webhooks`,
    `Stop these emails:\n${stopLink}`,
  ]
  return { to, subject: subjectOf(content), text: `${parts.join('\n\n')}\n`, stopLink }
}
