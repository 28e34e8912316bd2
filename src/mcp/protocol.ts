import type { JsonObject } from '../lib/kernel/json.ts'

/**
 * Versions with sessions (initialize handshake), newest first. Clients that ask for an unknown version are offered the
 * newest one.
 */
export const SESSION_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const
export type SessionVersion = (typeof SESSION_VERSIONS)[number]

/** The stateless version, in which every request names its version and client. */
export const STATELESS_VERSION = '2026-07-28'
export const STATELESS_VERSIONS = [STATELESS_VERSION] as const

/** The only version with JSON-RPC batches (2025-03-26, basic/transports). */
export const BATCH_VERSION: SessionVersion = '2025-03-26'
/** Maximum number of messages in a batch, as in the SDK. */
export const MAX_BATCH_MESSAGES = 100

export const findSessionVersion = (version: string): SessionVersion | undefined =>
  SESSION_VERSIONS.find(known => known === version)

/** Versions are dates, so they compare as strings. Unknown later versions count as stateless. */
export const isStatelessVersion = (version: string): boolean => version >= STATELESS_VERSION

/**
 * Error codes of JSON-RPC 2.0 (§5.1) and of MCP. Implementations may use -32000 to -32019. The two codes from this
 * range have the same meaning in the SDK.
 */
export const ERROR = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** The HTTP request is invalid, rather than the message in it. */
  transport: -32000,
  sessionNotFound: -32001,
  /** Only in the session era (server/resources, "Error Handling"). The stateless era uses invalid params. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const

/** Reserved keys of `_meta` (2026-07-28, basic). */
export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  /** Our own key in lists. It names the upstreams whose items are missing, with the reasons. */
  missing: 'patchbay/missing',
} as const

/** Kinds of lists whose changes clients are notified about. */
export const LIST_KINDS = ['tools', 'resources', 'prompts'] as const
export type ListKind = (typeof LIST_KINDS)[number]

/** Renders a notification. */
export const notification = (method: string, params?: JsonObject): string =>
  JSON.stringify({ jsonrpc: '2.0', method, params })
/** Renders the notification that a resource has changed. */
export const resourceUpdated = (uri: string): string => notification('notifications/resources/updated', { uri })
export const listChangedMethod = (kind: ListKind): string => `notifications/${kind}/list_changed`
/** Renders the notification that a list has changed. */
export const listChanged = (kind: ListKind): string => notification(listChangedMethod(kind))
