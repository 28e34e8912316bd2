import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { clientName } from '../envelope.ts'
import { ERROR, findSessionVersion, SESSION_VERSIONS } from '../protocol.ts'
import { type Refusal, refusal } from '../rpc-response.ts'
import type { SessionClaims } from './session-id.ts'
import { ASKABLE_NAMES } from './session-peer.ts'

/** The parameters of initialize (basic/lifecycle, "Initialization"). */
type InitializeParams = Pick<SessionClaims, 'version' | 'client' | 'capabilities'>

/** Known client capabilities. All others are dropped, because clients may send any number of them. */
const CAPABILITIES: readonly string[] = ['experimental', 'tasks', ...ASKABLE_NAMES]

/** Whether the client declares a capability, such as `sampling`, or a part of one, such as `sampling.tools`. */
const declares = (capabilities: JsonObject, path: string): boolean => {
  const [name = '', detail] = path.split('.')
  const found = Object.hasOwn(capabilities, name) ? capabilities[name] : undefined
  if (detail === undefined) return found !== undefined
  return isJsonObject(found) && Object.hasOwn(found, detail) && found[detail] !== false
}

/** Maximum size of a client's name as JSON. The name is part of session ids. */
const MAX_CLIENT_BYTES = 240
const CLIENT_CHARACTERS = [200, 100, 40] as const

const shortened = (client: string | undefined): string | undefined => {
  const lengths = client === undefined ? [] : CLIENT_CHARACTERS.map(length => client.slice(0, length))
  return lengths.find(text => Buffer.byteLength(JSON.stringify(text)) <= MAX_CLIENT_BYTES) ?? lengths.at(-1)
}

const hasText = (value: JsonValue | undefined, key: string): boolean =>
  isJsonObject(value) && typeof value[key] === 'string'

/**
 * Parses the parameters of initialize. Selects the client's version if we support it, and otherwise our newest version,
 * which the client may decline.
 */
export const parseInitialize = (params: JsonObject | undefined): InitializeParams | Refusal => {
  const { protocolVersion, capabilities, clientInfo } = params ?? {}
  const wrong = (what: string): Refusal => refusal(400, ERROR.invalidParams, `Invalid params: ${what}`)
  if (typeof protocolVersion !== 'string') return wrong('protocolVersion is missing or not a string')
  if (!isJsonObject(capabilities)) return wrong('capabilities is missing or not an object')
  if (!hasText(clientInfo, 'name') || !hasText(clientInfo, 'version')) return wrong('clientInfo needs name and version')
  return {
    version: findSessionVersion(protocolVersion) ?? SESSION_VERSIONS[0],
    client: shortened(clientName(clientInfo)),
    capabilities: CAPABILITIES.filter(name => declares(capabilities, name)),
  }
}
