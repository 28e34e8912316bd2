import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import { endEverything } from '../access-ending.ts'
import { accountGone, type User } from '../account.ts'
import type { MailFlowParts } from '../account-parts.ts'
import * as userStore from '../accounts.store.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { userActor, userTarget } from '../audit/audit-entry.ts'
import { verificationEmail } from './emails.ts'
import { findLinkedUserId, issueLink, takeLinkOfUser } from './mailed-links.service.ts'

/** A confirmed email, and whether confirming it has ended all access to the account. */
export type VerifiedEmail = { email: string; hasEndedAccess: boolean }

/** Operations for verifying that a user receives mail at their address. */
export const createEmailVerification = (parts: MailFlowParts) => {
  const { db, changes, mailer, mailQueue, throttle, endGrantsOf, baseUrl } = parts

  const sendLink = async ({ id, email }: Pick<User, 'id' | 'email'>, address: string | undefined): Promise<void> => {
    const link = await issueLink(db, baseUrl, 'verify_email', { userId: id, email })
    await mailer.send(verificationEmail(email, link, { baseUrl, address }))
  }

  return {
    /** Sends the verification email of a new account in the background. */
    welcome: ({ id }: Pick<User, 'id'>, address: string): void =>
      mailQueue.post('email verification', async () => {
        const user = await userStore.findUser(db, id)
        // Accepting an invitation has already verified the email.
        if (user !== undefined && user.emailVerifiedAt === undefined) await sendLink(user, address)
      }),

    /**
     * Sends another link. Throws `conflict` if the email is already confirmed, and `unavailable` if the mail cannot be
     * sent.
     */
    resendVerification: async (actor: Actor): Promise<void> => {
      const user = orThrow(await userStore.findUser(db, actor.userId), accountGone)
      if (user.emailVerifiedAt !== undefined) throw new AppError('conflict', 'This email is already confirmed.')
      await throttle.countMail('verify_email', { email: user.email, address: actor.address })
      await sendLink(user, actor.address)
    },

    /**
     * Confirms an email. `sessionUserId` is the user whose session the browser has. If it is not the account's, somebody
     * else may have created the account, so everything that gives access to it ends, and its user sets a new password.
     * Throws `invalid_request` if the link has expired or has been used, or the account has another email by now.
     */
    verifyEmail: (token: string, address: string, sessionUserId: string | undefined): Promise<VerifiedEmail> =>
      changes.commit(async (tx, announce) => {
        const user = await takeLinkOfUser(tx, 'verify_email', token)
        const { id: userId, email } = user
        const isNew = await userStore.markEmailVerified(tx, userId, new Date())
        if (!isNew) return { email, hasEndedAccess: false }
        const hasEndedAccess = mailer.isDelivering && sessionUserId !== userId
        const change = hasEndedAccess ? await endEverything(tx, userId, endGrantsOf) : undefined
        if (hasEndedAccess) await userStore.removePassword(tx, userId)
        const actor = userActor(user, address)
        await writeAudit(tx, { action: 'user.email_verified', actor, target: userTarget(user), change })
        announce({ type: 'access_changed', userId })
        return { email, hasEndedAccess }
      }),

    /** Returns whether opening this link elsewhere than in the account's own session would end access to it. */
    endsAccess: async (token: string, sessionUserId: string | undefined): Promise<boolean> => {
      if (!mailer.isDelivering) return false
      const userId = await findLinkedUserId(db, 'verify_email', token)
      const user = userId === undefined ? undefined : await userStore.findUser(db, userId)
      return user !== undefined && user.emailVerifiedAt === undefined && user.id !== sessionUserId
    },
  }
}
