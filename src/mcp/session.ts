import type { SessionPeer } from '../upstreams/index.ts'
import type { Call } from './call.ts'
import type { Feeds } from './feeds.ts'
import type { ResponseMessage } from './message.ts'
import type { LogLevel, SessionVersion } from './protocol.ts'

/** The client of a session, where upstreams may ask it something. */
export type AskedSession = {
  peer: SessionPeer
  /** Takes what the client answered; what it was not asked is nobody's. */
  receive: (answer: ResponseMessage) => void
  end: () => void
}

/** A subscription to a resource. */
export type SessionSubscription = {
  /** Which of a server's groups was meant, if any. */
  group: string | undefined
  /** How it is ended; undefined while it rests, since nobody has listened for long. */
  stop: (() => void) | undefined
}

/** What binds a session to the upstreams of its server. */
export type SessionTies = {
  /** By URI. */
  subscriptions: Map<string, SessionSubscription>
  stopLogs: (() => void) | undefined
  /** Its client, where that can be asked something. */
  asked: AskedSession | undefined
  /** How its own connections to upstreams are closed. */
  closeOwn: (() => void) | undefined
}

/** What changes while a session lasts. Everything beyond its last use is made when it is first needed. */
export type Session = {
  readonly serverId: string
  readonly subject: string | undefined
  readonly version: SessionVersion
  readonly client: string | undefined
  /** Names of the capabilities that it declared. */
  readonly capabilities: readonly string[]
  lastUsedAt: number
  logLevel: LogLevel | undefined
  /** Requests under way, for `notifications/cancelled`; nothing keeps a client from using an id twice. */
  calls: Call[] | undefined
  feeds: Feeds | undefined
  /** In place of its feeds, where its transport has one stream for everything. */
  notify: ((json: string) => void) | undefined
  ties: SessionTies | undefined
}
