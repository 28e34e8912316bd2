/** Versions with sessions (initialize handshake), the newest first: the one we offer when a client asks for another. */
export const SESSION_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const
export type SessionVersion = (typeof SESSION_VERSIONS)[number]

/** The stateless version: every request says who it is from and what it speaks. */
export const STATELESS_VERSION = '2026-07-28'
export const STATELESS_VERSIONS = [STATELESS_VERSION] as const

/** The only version with JSON-RPC batches (2025-03-26, basic/transports). */
export const BATCH_VERSION: SessionVersion = '2025-03-26'
/** Messages in one batch, as many as the SDK takes. */
export const MAX_BATCH_MESSAGES = 100

export const findSessionVersion = (version: string): SessionVersion | undefined =>
  SESSION_VERSIONS.find(known => known === version)

/** Versions are dates, so they compare as texts; what is later than we know is of the stateless era as well. */
export const isStatelessVersion = (version: string): boolean => version >= STATELESS_VERSION

/**
 * JSON-RPC 2.0 §5.1 and the codes of the specification. -32000 to -32019 are ours to give out:
 * the two below mean what the SDK means by them.
 */
export const ERROR = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** What is wrong with the HTTP request around the message. */
  transport: -32000,
  sessionNotFound: -32001,
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
  /** Ours, of a list: upstreams whose items are not in it, each with the reason. */
  missing: 'patchbay/missing',
} as const

export { findLogLevel, type LogLevel } from '../upstreams/index.ts'

/** What is listed, and told of when it changes. */
export const LIST_KINDS = ['tools', 'resources', 'prompts'] as const
export type ListKind = (typeof LIST_KINDS)[number]
/** The notification that a resource is not what it was. */
export const resourceUpdated = (uri: string): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } })
export const listChangedMethod = (kind: ListKind): string => `notifications/${kind}/list_changed`
