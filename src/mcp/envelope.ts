import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/index.ts'
import { findLogLevel, META } from './protocol.ts'

export type EnvelopeIssue = { key: string; problem: string }

const CAPABILITIES = ['experimental', 'sampling', 'elicitation', 'roots', 'extensions'] as const

const isImplementation = (value: JsonValue): boolean =>
  isJsonObject(value) && typeof value.name === 'string' && typeof value.version === 'string'

const areCapabilities = (value: JsonValue): boolean =>
  isJsonObject(value) && CAPABILITIES.every(name => value[name] === undefined || isJsonObject(value[name]))

/**
 * What is wrong with the envelope in a stateless request's `_meta`, the first thing only.
 * `clientInfo` may be left out (2026-07-28, basic: SHOULD), but not be something else.
 */
export const checkEnvelope = (meta: JsonObject): EnvelopeIssue | undefined => {
  const version = meta[META.protocolVersion]
  const capabilities = meta[META.clientCapabilities]
  const info = meta[META.clientInfo]
  const level = meta[META.logLevel]
  if (version === undefined) return { key: META.protocolVersion, problem: 'missing' }
  if (capabilities === undefined) return { key: META.clientCapabilities, problem: 'missing' }
  if (typeof version !== 'string') return { key: META.protocolVersion, problem: 'not a string' }
  if (!areCapabilities(capabilities)) return { key: META.clientCapabilities, problem: 'no set of capabilities' }
  if (info !== undefined && !isImplementation(info)) return { key: META.clientInfo, problem: 'no name and version' }
  if (level !== undefined && findLogLevel(level) === undefined) return { key: META.logLevel, problem: 'no log level' }
  return undefined
}

/** Longest name of a client kept: longer ones are cut, for it goes into session ids and history. */
const MAX_CLIENT_CHARACTERS = 200

/** `name/version` of an Implementation, as history shows it. */
export const clientName = (info: JsonValue | undefined): string | undefined => {
  if (!isJsonObject(info) || typeof info.name !== 'string') return undefined
  const whole = `${info.name}/${String(info.version)}`
  if (whole.length <= MAX_CLIENT_CHARACTERS) return whole
  // Copied, for a slice would keep the long text in memory for as long as its session lives.
  return Buffer.from(whole.slice(0, MAX_CLIENT_CHARACTERS)).toString()
}
