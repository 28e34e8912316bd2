import { isJsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { AccessPolicy } from '../../servers/access/access.ts'
import { findSessionVersion, type SessionVersion } from '../protocol.ts'
import { createSigner, type SigningKey } from '../signer.ts'

/** The content of a session id, which lets any process serve the session. It does not authenticate anybody. */
export type SessionClaims = {
  serverId: string
  /** The user who started it; undefined if anonymous. */
  subject: string | undefined
  tier: AccessPolicy['tier']
  version: SessionVersion
  /** `name/version`. */
  client: string | undefined
  /** Names of the capabilities declared by the client. */
  capabilities: readonly string[]
  /** Milliseconds since 1970. */
  madeAt: number
  /** Distinguishes ids created in the same millisecond. */
  nonce: string
}

/** Longer ids are rejected unread. Ours are far shorter. */
const MAX_ID_CHARACTERS = 2_048
/** Maximum length of our ids: every request repeats it in a header, and it is stored with its session. */
const MAX_ISSUED_CHARACTERS = 1_024

export const createSessionIds = (keys: readonly SigningKey[]) => {
  const signer = createSigner(keys, '', MAX_ID_CHARACTERS)
  return {
    /** Returns an id as the specification requires (basic/transports, "Session Management"). Throws if it is too long. */
    issue: (claims: SessionClaims): string => {
      const id = signer.sign(claims)
      if (id.length > MAX_ISSUED_CHARACTERS) throw new RangeError(`a session id has ${id.length} characters`)
      return id
    },
    /** Returns undefined if none of our keys signed it. */
    verify: (id: string): SessionClaims | undefined => toClaims(signer.verify(id)),
  }
}
export type SessionIds = ReturnType<typeof createSessionIds>

const TIERS = ['public', 'organization', 'private'] as const
const textOrNone = (value: JsonValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

/** An id may have been signed by another version of Patchbay, with other claims. */
const toClaims = (value: JsonValue | undefined): SessionClaims | undefined => {
  if (!isJsonObject(value)) return undefined
  const { serverId, madeAt, nonce, capabilities } = value
  const version = findSessionVersion(String(value.version))
  const tier = TIERS.find(known => known === value.tier)
  if (typeof serverId !== 'string' || typeof madeAt !== 'number' || typeof nonce !== 'string') return undefined
  if (version === undefined || tier === undefined || !Array.isArray(capabilities)) return undefined
  const names = capabilities.filter(name => typeof name === 'string')
  const subject = textOrNone(value.subject)
  return { serverId, subject, tier, version, client: textOrNone(value.client), capabilities: names, madeAt, nonce }
}
