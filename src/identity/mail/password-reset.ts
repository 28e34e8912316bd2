import type { Transaction } from '../../lib/db/client.ts'
import type { Announce } from '../../lib/events/changes.ts'
import type { User } from '../account.ts'
import type { MailFlowParts } from '../account-parts.ts'
import * as userStore from '../accounts.store.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { userActor, userTarget } from '../audit/audit-entry.ts'
import { DEMO_EMAIL } from '../demo-account.ts'
import { endEverythingOf } from '../sign-in/end-everything.ts'
import { removeTokensOf } from '../tokens/tokens.store.ts'
import { passwordChangedEmail, passwordResetEmail } from './emails.ts'
import { checkLink, issueLink, takeLinkOfUser } from './mailed-links.service.ts'

/** Operations that reset a forgotten password through a link sent by email. */
export const createPasswordReset = (parts: MailFlowParts) => {
  const { db, changes, mailer, mailQueue, throttle, passwords, endGrantsOf, baseUrl } = parts

  const sendLink = async (email: string, address: string): Promise<void> => {
    const user = await userStore.findUserByEmail(db, email)
    if (user === undefined || email === DEMO_EMAIL) return
    const link = await issueLink(db, baseUrl, 'reset_password', { userId: user.id, email })
    await mailer.send(passwordResetEmail(email, link, { baseUrl, address }))
  }

  const setPassword = async (
    tx: Transaction,
    announce: Announce,
    { token, passwordHash, address }: { token: string; passwordHash: string; address: string },
  ): Promise<User> => {
    const user = await takeLinkOfUser(tx, 'reset_password', token)
    const userId = user.id
    await userStore.updatePasswordHash(tx, userId, passwordHash)
    // Opening the link also proves the email. If it was unverified until now, someone else may have created the
    // account, so their tokens must stop working too.
    const isFirstProof = await userStore.markEmailVerified(tx, userId, new Date())
    const tokensRemoved = isFirstProof ? await removeTokensOf(tx, userId) : 0
    const change = { ...(await endEverythingOf(tx, userId, endGrantsOf)), tokensRemoved }
    const actor = userActor(user, address)
    await writeAudit(tx, { action: 'user.password_reset', actor, target: userTarget(user), change })
    announce({ type: 'access_changed', userId })
    return user
  }

  return {
    /** Sends the link in the background: neither the response nor its timing reveals whether the account exists. */
    requestReset: async ({ email, address }: { email: string; address: string }): Promise<void> => {
      await throttle.countMail('reset_password', { email, address })
      mailQueue.post('password reset', () => sendLink(email, address))
    },

    /**
     * Throws `invalid_request` if the link is no longer valid. Does not sign in, as that would bypass the second
     * factor.
     */
    resetPassword: async (input: { token: string; password: string; address: string }): Promise<void> => {
      const { token, password, address } = input
      // Used up later in the transaction; this check only avoids needless hashing.
      await checkLink(db, 'reset_password', token)
      const passwordHash = await passwords.hashPassword(password)
      const { email } = await changes.commit((tx, announce) =>
        setPassword(tx, announce, { token, passwordHash, address }),
      )
      // Lifts the block that failed attempts with the forgotten password caused.
      await throttle.forgiveSignIn({ email, address })
      const letter = passwordChangedEmail(email, { baseUrl, address })
      mailQueue.post('password changed', () => mailer.send(letter))
    },
  }
}
