import { createHmac, timingSafeEqual } from 'node:crypto'
import { isJsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { AccessPolicy } from '../../servers/access/access.ts'
import { findSessionVersion, type SessionVersion } from '../protocol.ts'

/** The first key signs, all of them verify. `id` must not contain a dot. */
export type SigningKey = { id: string; key: Buffer }

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
const MAX_SEALED_CHARACTERS = 1_024

const signatureOf = (signed: string, key: Buffer): Buffer => createHmac('sha256', key).update(signed).digest()

export const createSessionIds = (keys: readonly SigningKey[]) => {
  const [first] = keys
  if (first === undefined) throw new Error('session ids need a signing key')
  const byId = new Map(keys.map(({ id, key }) => [id, key]))
  return {
    /**
     * Returns `keyId.claims.signature` in visible ASCII, as the specification requires (basic/transports, "Session
     * Management"). Throws if the claims are too long.
     */
    seal: (claims: SessionClaims): string => {
      const signed = `${first.id}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
      const id = `${signed}.${signatureOf(signed, first.key).toString('base64url')}`
      if (id.length > MAX_SEALED_CHARACTERS) throw new RangeError(`a session id has ${id.length} characters`)
      return id
    },
    /** Returns undefined if none of our keys signed it. */
    open: (id: string): SessionClaims | undefined => {
      const [keyId = '', claims = '', signature = '', ...rest] = id.length > MAX_ID_CHARACTERS ? [] : id.split('.')
      const key = byId.get(keyId)
      if (key === undefined || rest.length > 0) return undefined
      const expected = signatureOf(`${keyId}.${claims}`, key)
      const given = Buffer.from(signature, 'base64url')
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
      return toClaims(JSON.parse(Buffer.from(claims, 'base64url').toString()))
    },
  }
}
export type SessionIds = ReturnType<typeof createSessionIds>

const TIERS = ['public', 'organization', 'private'] as const
const textOrNone = (value: JsonValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

/** An id may have been signed by another version of Patchbay, with other claims. */
const toClaims = (value: JsonValue): SessionClaims | undefined => {
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
