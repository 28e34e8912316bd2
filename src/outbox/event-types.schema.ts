import { z } from 'zod'
import { EVENT_TYPE_NAMES, EVENT_TYPES, type EventType } from './event-types.ts'

export const eventType = z.enum(EVENT_TYPE_NAMES)

/** Removes repeated types, and returns them in the order of the pages. */
export const inOrder = (types: readonly EventType[]): EventType[] =>
  EVENT_TYPE_NAMES.filter(type => types.includes(type))

/** The types with what they mean, as a Markdown list. */
export const EVENT_TYPES_LIST = EVENT_TYPE_NAMES.map(type => `- \`${type}\`: ${EVENT_TYPES[type]}`).join('\n')
