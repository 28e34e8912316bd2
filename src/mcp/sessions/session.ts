import type { LogLevel, SessionPeer } from '../../upstreams/connection/call-link.ts'
import type { Call } from '../call.ts'
import type { ResponseMessage } from '../message.ts'
import type { ResumableStreams } from '../streams/resumable-streams.ts'
import type { SessionClaims } from './session-id.ts'

/** A session's client that upstreams can ask. */
export type AskableClient = {
  peer: SessionPeer
  /** Receives a response of the client. Responses to no request are dropped. */
  receive: (response: ResponseMessage) => void
  /** Fails its open requests, and closes the session's own connections to upstreams. */
  end: () => void
}

/** A subscription to a resource. */
export type SessionSubscription = {
  /** The group that the client named, if any. */
  group: string | undefined
  /** Ends the subscription. Undefined while paused, because nobody has listened for a while. */
  stop: (() => void) | undefined
}

/** What connects a session to the upstreams of its server. */
export type SessionUpstreams = {
  /** By URI. */
  subscriptions: Map<string, SessionSubscription>
  stopLogs: (() => void) | undefined
  /** Undefined if the client cannot be asked anything. */
  askable: AskableClient | undefined
}

type SessionStart = Readonly<Pick<SessionClaims, 'serverId' | 'subject' | 'version' | 'client' | 'capabilities'>>

/** The state of a session. Most members are created when first needed. */
export type Session = SessionStart & {
  lastUsedAt: number
  logLevel: LogLevel | undefined
  /** Running requests, for `notifications/cancelled`. Clients may use an id twice. */
  calls: Call[] | undefined
  streams: ResumableStreams | undefined
  /** Used instead of `streams` by transports with a single stream. */
  notify: ((json: string) => void) | undefined
  upstreams: SessionUpstreams | undefined
}

export const newSession = (
  { serverId, subject, version, client, capabilities }: SessionStart,
  lastUsedAt: number,
): Session => ({
  serverId,
  subject,
  version,
  client,
  capabilities,
  lastUsedAt,
  logLevel: undefined,
  calls: undefined,
  streams: undefined,
  notify: undefined,
  upstreams: undefined,
})
