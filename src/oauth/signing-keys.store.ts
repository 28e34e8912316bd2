import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Database, type Transaction, transact } from '../lib/db/client.ts'
import type { Sealing } from '../lib/process/sealing.ts'

const ALGORITHM = 'ES256'

/** A private EC key on the P-256 curve (RFC 7518 §6.2.2). */
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

/** Binds a sealed key to its row, so that it cannot be opened in another row. */
const contextOf = (id: string) => ({ purpose: 'oauth-signing-key', ownerId: 'installation', name: id })

const generateSigningKey = (kid: string): SigningKey => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return SigningKey.parse({ ...privateKey.export({ format: 'jwk' }), kid, alg: ALGORITHM, use: 'sig' })
}

/**
 * Returns the signing keys, newest first, and creates one at the first start. The newest key signs; all are published.
 */
export const loadSigningKeys = async (db: Database, sealing: Sealing): Promise<SigningKey[]> =>
  transact(db, async tx => {
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

/** Lists the ids of the master keys with which signing keys are sealed. */
export const listSigningSealingKeyIds = async (tx: Transaction): Promise<string[]> => {
  const rows = await tx.signingKey.groupBy({ by: ['keyId'] })
  return rows.map(({ keyId }) => keyId)
}
