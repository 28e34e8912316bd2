import { createHmac, timingSafeEqual } from 'node:crypto'
import type { JsonValue } from '../lib/kernel/json.ts'

/** A signing key. The first of several keys signs, and any of them can verify. `id` must not contain a dot. */
export type SigningKey = { id: string; key: Buffer }

/**
 * Signs JSON that clients store for us, as `keyId.content.signature` in visible ASCII. Clients can read the content.
 * The signature covers `prefix`, so that a string signed for one purpose is not valid for another.
 */
export const createSigner = (keys: readonly SigningKey[], prefix: string, maxCharacters: number) => {
  const [first] = keys
  if (first === undefined) throw new Error('a signing key is required')
  const byId = new Map(keys.map(({ id, key }) => [id, key]))
  const signatureOf = (signed: string, key: Buffer): Buffer =>
    createHmac('sha256', key)
      .update(prefix + signed)
      .digest()
  return {
    sign: (content: object): string => {
      const signed = `${first.id}.${Buffer.from(JSON.stringify(content)).toString('base64url')}`
      return `${signed}.${signatureOf(signed, first.key).toString('base64url')}`
    },
    /**
     * Returns the signed JSON, or undefined if the string is longer than `maxCharacters` or was not signed with one of
     * our keys.
     */
    verify: (text: string): JsonValue | undefined => {
      const [keyId = '', content = '', signature = '', ...rest] = text.length > maxCharacters ? [] : text.split('.')
      const key = byId.get(keyId)
      if (key === undefined || rest.length > 0) return undefined
      const expected = signatureOf(`${keyId}.${content}`, key)
      const given = Buffer.from(signature, 'base64url')
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
      return JSON.parse(Buffer.from(content, 'base64url').toString())
    },
  }
}
