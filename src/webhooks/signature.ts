import { createHmac, randomBytes } from 'node:crypto'

/** Length of a new secret. Standard Webhooks asks for 24 to 64 bytes. */
const SECRET_BYTES = 32
const SECRET_PREFIX = 'whsec_'

/** Returns a new secret as Standard Webhooks writes it: `whsec_` and Base64. */
export const newWebhookSecret = (): string => `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`

type Message = { id: string; sentAt: Date; body: string }

const signatureOf = ({ id, body }: Message, timestamp: number, secret: string): string => {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}

/**
 * Returns the headers that prove where a message comes from (Standard Webhooks, "Verifying webhook authenticity"). With
 * several secrets there are several signatures, of which a receiver needs one.
 */
export const signedHeaders = (message: Message, secrets: readonly string[]): [string, string][] => {
  const timestamp = Math.floor(message.sentAt.getTime() / 1_000)
  return [
    ['webhook-id', message.id],
    ['webhook-timestamp', String(timestamp)],
    ['webhook-signature', secrets.map(secret => signatureOf(message, timestamp, secret)).join(' ')],
  ]
}
