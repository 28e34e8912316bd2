import { z } from 'zod'
import { timeSchema } from '../platform/http/index.ts'
import { Email, newPassword } from './accounts.schema.ts'
import { describeBrowser } from './describe-browser.ts'
import { ownPassword } from './second-factor.schema.ts'
import type { OwnSession } from './sessions.store.ts'

/** Far longer than ours are: what is no token is refused as one that is over. */
const MAX_LINK_TOKEN_CHARACTERS = 256
const linkToken = z.string().max(MAX_LINK_TOKEN_CHARACTERS).describe('Out of the link that was sent')

export const LinkToken = z.object({ token: linkToken })
export const ResetRequest = z.object({ email: Email })
export const PasswordReset = z.object({ token: linkToken, password: newPassword })
export const PasswordChange = z.object({ currentPassword: ownPassword, password: newPassword })
export const EmailChange = z.object({ email: Email, password: ownPassword })

export const MessageView = z.object({ message: z.string() }).meta({ id: 'Message' })
export const EmailView = z.object({ email: z.string() }).meta({ id: 'EmailAddress' })
export const ChangedPasswordView = z
  .object({
    csrfToken: z.string().nullable().describe('Of the session that goes on under a new id; null for a token'),
  })
  .meta({ id: 'ChangedPassword' })

export const OwnSessionView = z
  .object({
    id: z.uuid(),
    current: z.boolean().describe('Whether it is the one that asks'),
    createdAt: timeSchema,
    lastSeenAt: timeSchema.describe('To within ten minutes'),
    browser: z.string().describe('What it called itself at sign-in: Firefox on Linux'),
    address: z.string().nullable().describe('The network address of the sign-in'),
  })
  .meta({ id: 'OwnSession' })

export const toOwnSessionView = (session: OwnSession): z.infer<typeof OwnSessionView> => ({
  id: session.id,
  current: session.isCurrent,
  createdAt: session.createdAt.toISOString(),
  lastSeenAt: session.lastSeenAt.toISOString(),
  browser: describeBrowser(session.userAgent),
  address: session.address ?? null,
})

const OUTBOX = ' This installation sends no mail itself: its operator finds the letter in the outbox.'

/** What is said once a letter was asked for: nothing of whether one was sent. */
export const letterMessages = (isDelivered: boolean) => {
  const outbox = isDelivered ? '' : OUTBOX
  return {
    reset: `If there is an account with this address, a link for a new password is on its way to it.${outbox}`,
    verification: `A link is on its way to your address.${outbox}`,
    emailChange: `If the new address is free, a link is on its way to it: your address changes once it is opened.${outbox}`,
  }
}
