import type { RequestOptions } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../lib/kernel/json.ts'
import type { UpstreamConnection } from './connection.ts'
import type { UpstreamClient } from './open-connection.ts'

/** RFC 5424, as MCP names them: each is worth more than those before it. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const findLogLevel = (level: unknown): LogLevel | undefined => LOG_LEVELS.find(known => known === level)

/** Whether a message of one level is to be told to somebody who has asked for those of another and above. */
export const isLevelWanted = (level: unknown, wanted: LogLevel): boolean => {
  const known = findLogLevel(level)
  return known !== undefined && LOG_LEVELS.indexOf(known) >= LOG_LEVELS.indexOf(wanted)
}

/** What a stateless client gives back with a request that is repeated: the upstream's own state, or the call that waits. */
export type RequestState = { upstream?: string | undefined; held?: string | undefined }

type AskedClient = {
  /** Tells clients apart: connections of its own are for the requests of one of them. */
  key: string
  /** What it declares that it can be asked: of `elicitation`, `roots` and `sampling`. */
  capabilities: JsonObject
  /** Whose account its own connections go by, where each caller has one. */
  userId: string | undefined
}

/** A client with a session, which is asked by requests. */
export type SessionPeer = AskedClient & {
  kind: 'session'
  /** Rejects with what the client answers as an error, or with why it cannot be asked. */
  ask: (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>
  tell: (method: string, params: JsonObject) => void
  /** It is known what tools an upstream has for this client. */
  learned: () => void
}

/** A client without one, which is asked in an answer and repeats its request with what it was asked for. */
export type StatelessPeer = AskedClient & {
  kind: 'stateless'
  inputResponses: JsonObject | undefined
  requestState: RequestState | undefined
  /** For the client to give back; nobody else can. */
  seal: (state: RequestState) => string
}

export type ClientPeer = SessionPeer | StatelessPeer

/** The client behind a request, for what an upstream has to say to it meanwhile. Once that is answered it is not used. */
export type CallLink = {
  /** Whose request it is: the same object for all that one client has under way. */
  origin: object
  /** What the client says in `_meta` for whoever answers it. */
  meta?: JsonObject | undefined
  /** Takes the params of `notifications/progress` without the token; left out where the client has asked for none. */
  onProgress?: ((params: JsonObject) => void) | undefined
  /** Takes the params of `notifications/message`; it chooses by level itself. */
  onLog?: ((params: JsonObject) => void) | undefined
  /** From which level on the client wants log messages; undefined where it never said. */
  logLevel?: LogLevel | undefined
  /** Where the client can be asked something. */
  peer?: ClientPeer | undefined
  /** How the request goes, where not straight over the connection that all share. */
  through?: LinkedRequest | undefined
}

/** Sends a request; `meta` goes into its `_meta`, and `more` beside its params. */
export type SendLinked = (
  client: UpstreamClient,
  meta: JsonObject,
  options: RequestOptions,
  more?: JsonObject,
) => Promise<JsonObject>

export type LinkedRequest = (shared: UpstreamConnection, signal: AbortSignal, send: SendLinked) => Promise<JsonObject>
