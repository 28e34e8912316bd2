import { isJsonObject, type JsonObject, type JsonValue } from '../lib/kernel/json.ts'
import { findLogLevel } from '../upstreams/connection/call-link.ts'
import { META } from './protocol.ts'

export type EnvelopeIssue = { key: string; problem: string }

const CAPABILITIES = ['experimental', 'sampling', 'elicitation', 'roots', 'extensions'] as const

const isImplementation = (value: JsonValue): boolean =>
  isJsonObject(value) && typeof value.name === 'string' && typeof value.version === 'string'

const areCapabilities = (value: JsonValue): boolean =>
  isJsonObject(value) && CAPABILITIES.every(name => value[name] === undefined || isJsonObject(value[name]))

/**
 * Returns the first error in the `_meta` of a stateless request. `clientInfo` is optional (2026-07-28, basic: SHOULD),
 * but must be valid if present.
 */
export const checkEnvelope = (meta: JsonObject): EnvelopeIssue | undefined => {
  const version = meta[META.protocolVersion]
  const capabilities = meta[META.clientCapabilities]
  const info = meta[META.clientInfo]
  const level = meta[META.logLevel]
  if (version === undefined) return { key: META.protocolVersion, problem: 'missing' }
  if (capabilities === undefined) return { key: META.clientCapabilities, problem: 'missing' }
  if (typeof version !== 'string') return { key: META.protocolVersion, problem: 'not a string' }
  if (!areCapabilities(capabilities)) return { key: META.clientCapabilities, problem: 'not a capabilities object' }
  if (info !== undefined && !isImplementation(info))
    return { key: META.clientInfo, problem: 'name or version is missing' }
  if (level !== undefined && findLogLevel(level) === undefined)
    return { key: META.logLevel, problem: 'not a log level' }
  return undefined
}

/** Maximum length of a client's name, which is stored in session ids and the history. */
const MAX_CLIENT_CHARACTERS = 200

/** Returns `name/version` of an Implementation object, as shown in the history. */
export const clientName = (info: JsonValue | undefined): string | undefined => {
  if (!isJsonObject(info) || typeof info.name !== 'string') return undefined
  const whole = `${info.name}/${String(info.version)}`
  if (whole.length <= MAX_CLIENT_CHARACTERS) return whole
  // Copied, because a slice would keep the whole string in memory.
  return Buffer.from(whole.slice(0, MAX_CLIENT_CHARACTERS)).toString()
}
