import type { CallFailedData } from './call-failed.ts'

/** Whether something was changed or deleted. */
type Change = 'changed' | 'removed'

/** Data of the events, by type. Names and ids only: never a secret value. */
export type EventData = {
  'call.failed': CallFailedData
  'server.error_rate_exceeded': {
    serverId: string
    serverName: string
    calls: number
    failed: number
    /** Percent of the calls that failed. */
    errorRate: number
    /** The threshold, in percent. */
    threshold: number
    minutes: number
  }
  'server.changed': { serverId: string; serverName: string; change: Change }
  'toolkit.changed': { toolkitId: string; toolkitTitle: string; change: Change }
  'secret.changed': { serverId: string; serverName: string; key: string; change: 'set' | 'removed' | 'origins_changed' }
  'upstream.down': { serverId: string; upstreamId: string; upstreamName: string; reason: string }
  'upstream.recovered': { serverId: string; upstreamId: string; upstreamName: string }
  'upstream.tools_changed': {
    serverId: string
    upstreamId: string
    upstreamName: string
    added: string[]
    removed: string[]
    changed: string[]
  }
  'upstream_account.disconnected': {
    serverId: string
    upstreamId: string
    upstreamName: string
    /** The user whose calls use the account. Null if all calls use it. */
    userId: string | null
  }
  'limit.warning': LimitData
  'limit.reached': LimitData
  'member.joined': { userId: string; email: string; role: string }
}

type LimitData = {
  limitId: string
  scope: 'organization' | 'server' | 'tool' | 'user' | 'token'
  /** The server, tool, user or token that the limit is for; null for the organization. */
  targetId: string | null
  unit: 'calls' | 'tokens' | 'money'
  period: 'minute' | 'day' | 'month'
  /** Calls, tokens, or the currency of the prices. */
  amount: number
  used: number
  /** When the period ends, as ISO 8601 in UTC. */
  resetsAt: string
}

export type EventType = keyof EventData

/** An event of any type, with the data of that type. With an id, the event can be entered only once. */
export type NewEvent = {
  [Type in EventType]: { organizationId: string; type: Type; data: EventData[Type]; id?: string }
}[EventType]

/** Description of each event, in the order of the pages. */
export const EVENT_TYPES = {
  'call.failed': 'A call of a tool failed',
  'server.error_rate_exceeded': 'Too many calls of a server failed',
  'server.changed': 'A server was changed or deleted',
  'toolkit.changed': 'A toolkit was changed or deleted',
  'secret.changed': 'A secret was set, deleted or allowed for other origins',
  'upstream.down': 'An MCP server cannot be reached',
  'upstream.recovered': 'An MCP server can be reached again',
  'upstream.tools_changed': 'The tools of an MCP server changed',
  'upstream_account.disconnected': 'A connected account must be reconnected',
  'limit.warning': '80% of a limit is used',
  'limit.reached': 'A limit is reached',
  'member.joined': 'A member joined the organization',
} as const satisfies Record<EventType, string>

const names = Object.keys(EVENT_TYPES)
export const isEventType = (text: string): text is EventType => names.includes(text)
/** All types, in the order of the pages. */
export const EVENT_TYPE_NAMES: readonly EventType[] = names.filter(isEventType)

/** The type of the event that a test of a webhook sends. Nobody chooses it. */
export const TEST_EVENT = 'webhook.test'

/** Writes the types that somebody chose, as the database stores them. */
export const toStoredTypes = (types: readonly EventType[]): string => JSON.stringify(types)

/** Returns the text that stored types contain if this one is among them. */
export const storedTypeOf = (type: EventType): string => JSON.stringify(type)

/** Reads stored types. Leaves out those that a newer version of Patchbay has stored. */
export const fromStoredTypes = (stored: string): EventType[] => {
  const read: unknown = JSON.parse(stored)
  return EVENT_TYPE_NAMES.filter(type => Array.isArray(read) && read.includes(type))
}
