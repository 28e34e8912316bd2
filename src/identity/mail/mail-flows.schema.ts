import { z } from 'zod'
import { orNull, timeSchema } from '../../lib/http/schemas.ts'
import { Email, newPassword } from '../accounts.schema.ts'
import { ownPassword } from '../second-factor/second-factor.schema.ts'
import { describeBrowser } from '../sign-in/describe-browser.ts'
import type { OwnSession } from '../sign-in/sessions.store.ts'

/**
 * Maximum length of a token, far longer than real tokens. A shorter text that is not a token gets the same error as an
 * expired link.
 */
const MAX_LINK_TOKEN_CHARACTERS = 256
const linkToken = z.string().max(MAX_LINK_TOKEN_CHARACTERS).describe('From the link in the email')

export const LinkToken = z.object({ token: linkToken })
export const ResetRequest = z.object({ email: Email })
export const PasswordReset = z.object({
  token: linkToken,
  password: newPassword,
  revokeAll: z
    .boolean()
    .default(true)
    .describe('Whether to revoke all personal access tokens and connected applications too'),
})
export const PasswordChange = z.object({ currentPassword: ownPassword, password: newPassword })
export const EmailChange = z.object({ email: Email, password: ownPassword })

export const MessageView = z.object({ message: z.string() }).meta({ id: 'Message' })
export const EmailView = z.object({ email: z.string() }).meta({ id: 'EmailAddress' })
export const ChangedPasswordView = z
  .object({
    csrfToken: z
      .string()
      .nullable()
      .describe('For the session, which continues under a new ID; null if a token made the request'),
  })
  .meta({ id: 'ChangedPassword' })

export const OwnSessionView = z
  .object({
    id: z.uuid(),
    current: z.boolean().describe('Whether it is the session that makes the request'),
    createdAt: timeSchema,
    lastSeenAt: timeSchema.describe('Accurate to ten minutes'),
    browser: z.string().describe('As identified at sign-in, e.g. Firefox on Linux'),
    address: orNull(z.string()).describe('The network address of the sign-in'),
  })
  .meta({ id: 'OwnSession' })

export const toOwnSessionView = (session: OwnSession) => ({
  ...session,
  current: session.isCurrent,
  browser: describeBrowser(session.userAgent),
})

const OUTBOX = ' This installation does not send email; its operator can find the message in the outbox.'

/** Messages shown after an email is requested. They do not reveal whether an email was sent. */
export const mailMessages = (isDelivered: boolean) => {
  const outbox = isDelivered ? '' : OUTBOX
  return {
    reset: `If an account with this email exists, a link to set a new password is on its way.${outbox}`,
    verification: `A confirmation link is on its way to your email.${outbox}`,
    emailChange: `If the new email is available, a link is on its way to it. Your email changes once you open the link while signed in.${outbox}`,
  }
}
