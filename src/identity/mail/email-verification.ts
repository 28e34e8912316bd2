import { type Actor, AppError } from '../kernel/index.ts'
import { writeAudit } from '../platform/audit/index.ts'
import type { User } from './account.ts'
import * as userStore from './accounts.store.ts'
import { verifyEmailLetter } from './letters.ts'
import type { MailFlowParts } from './mail-parts.ts'
import { linkIsOver } from './mailed-links.service.ts'

export type EmailVerificationParts = Pick<
  MailFlowParts,
  'db' | 'changes' | 'mailer' | 'postbox' | 'links' | 'throttle' | 'baseUrl' | 'now'
>

/** Shows that who has an account reads the mail of its address. Nothing waits for it. */
export const createEmailVerification = (parts: EmailVerificationParts) => {
  const { db, changes, mailer, postbox, links, throttle, baseUrl, now } = parts

  const sendLink = async ({ id, email }: Pick<User, 'id' | 'email'>, address: string | undefined): Promise<void> => {
    const link = await links.issue(db, 'verify_email', { userId: id, email })
    await mailer.send(verifyEmailLetter(email, link, { baseUrl, address }))
  }

  return {
    /** For a new account: sent after the answer, whatever comes of it. */
    welcome: ({ id }: Pick<User, 'id'>, address: string): void =>
      postbox.post('confirmation of an address', async () => {
        const user = await userStore.findUser(db, id)
        // Who came by an invitation has shown it already.
        if (user !== undefined && user.emailVerifiedAt === undefined) await sendLink(user, address)
      }),

    /** Sends another link. Throws `conflict` for an address that is confirmed, `unavailable` where the mail cannot go. */
    resendVerification: async (actor: Actor): Promise<void> => {
      const user = await userStore.findUser(db, actor.userId)
      if (user === undefined) throw new AppError('unauthenticated', 'This account is gone.')
      if (user.emailVerifiedAt !== undefined) {
        throw new AppError('conflict', 'This e-mail address is confirmed already.')
      }
      await throttle.countMail('verify_email', { email: user.email, address: actor.address ?? '' })
      await sendLink(user, actor.address)
    },

    /** Throws `invalid_request` for a link that is over, also by a change of the address meanwhile. */
    verifyEmail: (token: string, address: string): Promise<User> =>
      changes.commit(async tx => {
        const { userId, email } = await links.take(tx, 'verify_email', token)
        const user = await userStore.findUser(tx, userId)
        if (user === undefined || user.email !== email) throw linkIsOver()
        if (await userStore.markEmailVerified(tx, userId, new Date(now()))) {
          const target = { type: 'user', id: userId, name: email }
          await writeAudit(tx, { action: 'user.email_verified', actor: { userId, email, address }, target })
        }
        return user
      }),
  }
}
