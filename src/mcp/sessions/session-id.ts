import { createHmac, timingSafeEqual } from 'node:crypto'
import type { AccessPolicy } from '../execution/index.ts'
import { isJsonObject, type JsonValue } from '../kernel/index.ts'
import { findSessionVersion, type SessionVersion } from './protocol.ts'

/** The first signs, all verify. `id` has no dot. */
export type SigningKey = { id: string; key: Buffer }

/** What a session id says about its session, so that any process can serve it. It never authenticates anybody. */
export type SessionClaims = {
  serverId: string
  /** The user it was made by; none for a nameless caller. */
  subject: string | undefined
  tier: AccessPolicy['tier']
  version: SessionVersion
  /** `name/version`. */
  client: string | undefined
  /** Names of the capabilities that the client declared. */
  capabilities: readonly string[]
  /** Milliseconds since 1970. */
  madeAt: number
  /** Makes ids different that are made in the same millisecond. */
  nonce: string
}

/** Longest id looked at; ours are far shorter. */
const MAX_ID_CHARACTERS = 2_048
/** Longest id made: it comes back in a header of every request, and is kept for as long as its session lives. */
const MAX_SEALED_CHARACTERS = 1_024

const signatureOf = (signed: string, key: Buffer): Buffer => createHmac('sha256', key).update(signed).digest()

export const createSessionIds = (keys: readonly SigningKey[]) => {
  const [first] = keys
  if (first === undefined) throw new Error('session ids need a signing key')
  const byId = new Map(keys.map(({ id, key }) => [id, key]))
  return {
    /** `keyId.claims.signature`, visible ASCII as the specification asks (basic/transports, "Session Management"). Throws on claims too long. */
    seal: (claims: SessionClaims): string => {
      const signed = `${first.id}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
      const id = `${signed}.${signatureOf(signed, first.key).toString('base64url')}`
      if (id.length > MAX_SEALED_CHARACTERS) throw new RangeError(`a session id has ${id.length} characters`)
      return id
    },
    /** Undefined for what no key of ours has signed. */
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

/** Ids outlive the program that made them, so a signed one may still be of another shape. */
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
