import type { LogLevel, SessionPeer } from '../../upstreams/connection/call-link.ts'
import type { Call } from '../call.ts'
import type { ResponseMessage } from '../message.ts'
import type { ResumableStreams } from '../streams/resumable-streams.ts'
import type { SessionClaims } from './session-id.ts'

/** A session's client, to which upstreams can send requests. */
export type AskableClient = {
  peer: SessionPeer
  /** Handles a response from the client. Ignores a response with an unknown id. */
  receive: (response: ResponseMessage) => void
  /** Fails the open requests and closes the session's own connections to upstreams. */
  end: () => void
}

/** A subscription to a resource. */
export type SessionSubscription = {
  /** The group named by the client, if any. */
  group: string | undefined
  /** Ends the subscription. Undefined while the subscription is paused. */
  stop: (() => void) | undefined
}

/** The part of a session's state that concerns upstreams. */
export type SessionUpstreams = {
  /** By URI. */
  subscriptions: Map<string, SessionSubscription>
  stopLogs: (() => void) | undefined
  /** Undefined if the client accepts no requests. */
  askable: AskableClient | undefined
}

type SessionStart = Readonly<Pick<SessionClaims, 'serverId' | 'subject' | 'version' | 'client' | 'capabilities'>>

/** The state of a session. Most members are created on first use. */
export type Session = SessionStart & {
  lastUsedAt: number
  logLevel: LogLevel | undefined
  /** Running calls, which `notifications/cancelled` can cancel. Several may have the same id. */
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
