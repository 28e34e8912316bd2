import { z } from 'zod'
import type { Sealed, Sealing } from '../lib/process/sealing.ts'

/** How long receivers may verify with the old secret after a new one was made. */
export const OLD_SECRET_HOURS = 24

const WebhookContent = z.object({
  url: z.string(),
  secret: z.string(),
  /** The previous secret, with the end of its validity in milliseconds since 1970. */
  old: z.object({ secret: z.string(), until: z.number() }).optional(),
})

/** The encrypted part of a webhook: its URL, whose query may contain a password, and its secrets. */
export type WebhookContent = z.infer<typeof WebhookContent>

const contextOf = (webhookId: string) => ({ purpose: 'webhook', ownerId: webhookId, name: 'content' })

export const sealContent = (sealing: Pick<Sealing, 'seal'>, webhookId: string, content: WebhookContent): Sealed =>
  sealing.seal(JSON.stringify(content), contextOf(webhookId))

export const openContent = (sealing: Pick<Sealing, 'open'>, webhookId: string, sealed: Sealed): WebhookContent =>
  WebhookContent.parse(JSON.parse(sealing.open(sealed, contextOf(webhookId))))

/** Returns the secrets to sign with at a time, in milliseconds since 1970. */
export const secretsOf = ({ secret, old }: WebhookContent, now: number): string[] =>
  old !== undefined && old.until > now ? [secret, old.secret] : [secret]

/** Returns a URL for display, without the values in its query. */
export const addressOf = (url: string): string => {
  const { origin, pathname, search } = new URL(url)
  return `${origin}${pathname}${search === '' ? '' : '?…'}`
}
