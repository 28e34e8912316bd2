import type { Transaction } from '../../lib/db/client.ts'
import type { Announce } from '../../lib/events/changes.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { User } from '../account.ts'
import type { MailFlowParts } from '../account-parts.ts'
import * as userStore from '../accounts.store.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { selfTarget, userActor, userTarget } from '../audit/audit-entry.ts'
import { DEMO_EMAIL } from '../demo-account.ts'
import { removeSessions } from '../sign-in/sessions.store.ts'
import { removeTokensOf } from '../tokens/tokens.store.ts'
import { passwordChangedEmail, passwordResetEmail } from './emails.ts'
import { checkLink, issueLink, takeLinkOfUser } from './mailed-links.service.ts'
import { removeMailedLinks } from './mailed-links.store.ts'

/** Operations that change a known password or reset a forgotten one through an emailed link. */
export const createPasswordChanges = (parts: MailFlowParts) => {
  const { db, changes, mailer, mailQueue, throttle, passwords, ownPassword, endGrantsOf, baseUrl } = parts

  /**
   * Ends everything that someone with the old password may have started: sessions, application grants and emailed
   * links. Personal access tokens stay valid because scripts use them and users revoke them individually. Only a
   * password reset that also verifies the email for the first time revokes them. Returns the counts for the audit log.
   */
  const endEverythingOf = async (tx: Transaction, userId: string) => {
    const sessionsEnded = await removeSessions(tx, userId, undefined)
    await removeMailedLinks(tx, userId)
    return { sessionsEnded, grantsEnded: await endGrantsOf(tx, userId) }
  }

  const notify = (email: string, address: string | undefined): void => {
    const letter = passwordChangedEmail(email, { baseUrl, address })
    mailQueue.post('password changed', () => mailer.send(letter))
  }

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
    // Opening the link also verifies the email. If it was unverified until now, someone else may have created the
    // account, so that person's tokens must stop working too.
    const isFirstProof = await userStore.markEmailVerified(tx, userId, new Date())
    const tokensRemoved = isFirstProof ? await removeTokensOf(tx, userId) : 0
    const change = { ...(await endEverythingOf(tx, userId)), tokensRemoved }
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
     * Throws `invalid_request` if the link has expired or has been used. The user must still sign in, because the link
     * does not replace their second factor.
     */
    resetPassword: async (input: { token: string; password: string; address: string }): Promise<void> => {
      const { token, password, address } = input
      // The transaction below uses up the link. This check only avoids needless hashing.
      await checkLink(db, 'reset_password', token)
      const passwordHash = await passwords.hashPassword(password)
      const { email } = await changes.commit((tx, announce) =>
        setPassword(tx, announce, { token, passwordHash, address }),
      )
      // Lifts the block caused by earlier attempts with a wrong password.
      await throttle.forgiveSignIn({ email, address })
      notify(email, address)
    },

    /** Ends every session, including the current one, which the caller must start again. Throws like `prove`. */
    changePassword: (actor: Actor, input: { currentPassword: string; password: string }): Promise<void> =>
      ownPassword.prove(
        actor,
        input.currentPassword,
        async ({ id, email }, from) => {
          const to = await passwords.hashPassword(input.password)
          await changes.commit(async (tx, announce) => {
            if (!(await userStore.replacePasswordHash(tx, id, { from, to }))) {
              throw new AppError('conflict', 'The password was changed by another request in the meantime.')
            }
            const change = await endEverythingOf(tx, id)
            await writeAudit(tx, { action: 'user.password_changed', actor, target: selfTarget(actor), change })
            announce({ type: 'access_changed', userId: id })
          })
          notify(email, actor.address)
        },
        'currentPassword',
      ),
  }
}
