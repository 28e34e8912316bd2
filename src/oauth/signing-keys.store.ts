import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Database, type Transaction, transact } from '../platform/db/index.ts'
import type { Sealing } from '../platform/sealing.ts'

const ALGORITHM = 'ES256'

/** A private EC key of the curve P-256 (RFC 7518 §6.2.2). */
const SigningKey = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  d: z.string(),
  kid: z.string(),
  alg: z.literal(ALGORITHM),
  use: z.literal('sig'),
})
export type SigningKey = z.infer<typeof SigningKey>

/** What a sealed key is bound to: in another row it does not open. */
const contextOf = (id: string) => ({ purpose: 'oauth-signing-key', ownerId: 'installation', name: id })

const generateSigningKey = (kid: string): SigningKey => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return SigningKey.parse({ ...privateKey.export({ format: 'jwk' }), kid, alg: ALGORITHM, use: 'sig' })
}

/**
 * The keys of the authorization server, the newest first: that one signs, and all of them are published. The first
 * start makes one.
 */
export const takeSigningKeys = async (db: Database, sealing: Sealing): Promise<SigningKey[]> => {
  return transact(db, async tx => {
    const rows = await tx.signingKey.findMany({ where: { retiredAt: null }, orderBy: { createdAt: 'desc' } })
    if (rows.length === 0) {
      const id = randomUUID()
      const fresh = generateSigningKey(id)
      const { text, keyId } = sealing.seal(JSON.stringify(fresh), contextOf(id))
      await tx.signingKey.create({ data: { id, secret: text, keyId } })
      return [fresh]
    }
    return rows.map(row =>
      SigningKey.parse(JSON.parse(sealing.open({ keyId: row.keyId, text: row.secret }, contextOf(row.id)))),
    )
  })
}

/** Ids of the master keys that sealed a signing key. */
export const listSigningSealingKeyIds = async (tx: Transaction): Promise<string[]> => {
  const rows = await tx.signingKey.groupBy({ by: ['keyId'] })
  return rows.map(({ keyId }) => keyId)
}
