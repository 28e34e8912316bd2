import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16
const CIPHER = 'aes-256-gcm'
const ENVELOPE_VERSION = 1

/** The context that a sealed text is bound to. The text cannot be opened with any other context. */
export type SealContext = { purpose: string; ownerId: string; name: string }
export type Sealed = { keyId: string; text: string }

/** A sealed text that could not be opened. The message names the key, never the content. */
export class SealError extends Error {
  override readonly name = 'SealError'
}

export type Sealing = {
  /** Ids of the available keys. The first key seals. */
  keyIds: readonly string[]
  seal: (plain: string, context: SealContext) => Sealed
  open: (sealed: Sealed, context: SealContext) => string
  /** Derives a key for another purpose from each master key (RFC 5869), in the order of the master keys. */
  derive: (purpose: string) => readonly { id: string; key: Buffer }[]
}

/** Returns a key's id, the first 8 hex digits of its SHA-256 hash. */
export const keyIdOf = (key: Buffer): string => createHash('sha256').update(key).digest('hex').slice(0, 8)

export const generateMasterKey = (): string => randomBytes(32).toString('base64')

/**
 * Seals with AES-256-GCM (NIST SP 800-38D) and a random nonce. The envelope is Base64(nonce ‖ ciphertext ‖ tag).
 * `masterKeys` are 32 bytes each, in Base64. The first key seals, and all of them can open.
 */
export const createSealing = (masterKeys: readonly [string, ...string[]]): Sealing => {
  const keys = masterKeys.map(text => {
    const key = Buffer.from(text, 'base64')
    return { id: keyIdOf(key), key }
  })
  const byId = new Map(keys.map(({ id, key }) => [id, key]))
  const associatedData = (keyId: string, { purpose, ownerId, name }: SealContext) =>
    Buffer.from(JSON.stringify([purpose, ENVELOPE_VERSION, keyId, ownerId, name]))

  return {
    keyIds: keys.map(({ id }) => id),
    seal: (plain, context) => {
      const [first] = keys
      if (first === undefined) throw new SealError('no master key is set')
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, first.key, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(associatedData(first.id, context))
      const parts = [nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return { keyId: first.id, text: Buffer.concat(parts).toString('base64') }
    },
    open: ({ keyId, text }, context) => {
      const key = byId.get(keyId)
      if (key === undefined) throw new SealError(`sealed with key ${keyId}, which is not among the master keys`)
      const bytes = Buffer.from(text, 'base64')
      if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new SealError(`sealed text is truncated (key ${keyId})`)
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      decipher.setAAD(associatedData(keyId, context))
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      try {
        const opened = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
        return Buffer.concat([opened, decipher.final()]).toString('utf8')
      } catch (error) {
        throw new SealError(`sealed text cannot be opened with key ${keyId}: it was altered or moved`, { cause: error })
      }
    },
    derive: purpose =>
      keys.map(({ id, key }) => ({ id, key: Buffer.from(hkdfSync('sha256', key, '', `patchbay ${purpose}`, 32)) })),
  }
}
