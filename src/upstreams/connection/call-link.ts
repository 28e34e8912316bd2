import type { RequestOptions } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../lib/kernel/json.ts'
import type { UpstreamConnection } from './connection.ts'
import type { UpstreamClient } from './open-connection.ts'

/** The RFC 5424 levels as MCP names them, least severe first. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const findLogLevel = (level: unknown): LogLevel | undefined => LOG_LEVELS.find(known => known === level)

/** Returns whether a message of `level` is at least as severe as `wanted`. */
export const isLevelWanted = (level: unknown, wanted: LogLevel): boolean => {
  const known = findLogLevel(level)
  return known !== undefined && LOG_LEVELS.indexOf(known) >= LOG_LEVELS.indexOf(wanted)
}

/**
 * State that a stateless client returns when it repeats a request: the upstream's own, or the id of the waiting call.
 */
export type RequestState = { upstream?: string | undefined; held?: string | undefined }

/** A client to which an upstream can send questions. */
export type AskableClient = {
  /** Identifies the client. A dedicated connection serves only one client. */
  key: string
  /** The capabilities that the client declares, among `elicitation`, `roots` and `sampling`. */
  capabilities: JsonObject
  /** The user whose account the client's dedicated connections use, if each caller has their own account. */
  userId: string | undefined
}

export type SessionPeer = AskableClient & {
  kind: 'session'
  /**
   * Sends a request to the client. Rejects with the client's error response, or with the reason that the client cannot
   * be asked.
   */
  ask: (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>
  notify: (method: string, params: JsonObject) => void
  /** Called once the tools that the upstream offers to this client are known. */
  onToolsKnown: () => void
}

/** A stateless client (2026-07-28). It receives questions in a result and repeats its request with the input. */
export type StatelessPeer = AskableClient & {
  kind: 'stateless'
  inputResponses: JsonObject | undefined
  requestState: RequestState | undefined
  /** Seals the state that the client will return, to prevent tampering. */
  issueState: (state: RequestState) => string
}

export type ClientPeer = SessionPeer | StatelessPeer

/** The client behind a request. Receives the upstream's messages until the request is complete. */
export type CallLink = {
  /** Identifies the client. All requests of a client share the same object. */
  origin: object
  /** The entries of the client's `_meta` that are passed on. */
  meta?: JsonObject | undefined
  /** Receives the params of `notifications/progress` without the token; absent if the client wants no progress. */
  onProgress?: ((params: JsonObject) => void) | undefined
  /** Receives the params of `notifications/message` and filters them by level. */
  onLog?: ((params: JsonObject) => void) | undefined
  /** The client's minimum log level, or undefined if it never set one. */
  logLevel?: LogLevel | undefined
  peer?: ClientPeer | undefined
  /** Sends the request. If absent, the request is sent over the shared connection. */
  through?: LinkedRequest | undefined
}

/** Sends a request. `meta` becomes its `_meta` and is undefined without a link. `more` holds additional params. */
export type SendLinked = (
  client: UpstreamClient,
  meta: JsonObject | undefined,
  options: RequestOptions,
  more?: JsonObject,
) => Promise<JsonObject>

export type LinkedRequest = (shared: UpstreamConnection, signal: AbortSignal, send: SendLinked) => Promise<JsonObject>
