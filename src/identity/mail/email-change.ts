import type { Transaction } from '../../lib/db/client.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { User } from '../account.ts'
import type { MailFlowParts } from '../account-parts.ts'
import * as userStore from '../accounts.store.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { userTarget } from '../audit/audit-entry.ts'
import { DEMO_EMAIL } from '../demo-account.ts'
import { removeSessions } from '../sign-in/sessions.store.ts'
import { emailChangeConfirmation, emailChangeNotice, emailTakenNotice } from './emails.ts'
import { findLinkedUserId, issueLink, linkIsOver, takeLink } from './mailed-links.service.ts'
import { removeMailedLinks } from './mailed-links.store.ts'

const isTaken = async (tx: Transaction, email: string): Promise<boolean> =>
  email === DEMO_EMAIL || (await userStore.findUserByEmail(tx, email)) !== undefined

const ofAnotherAccount = (): AppError =>
  new AppError(
    'forbidden',
    'This link changes the email of another account. Sign out, sign in to that account, and open the link again.',
  )

/**
 * Operations that change an account's email. A change takes effect once its user, signed in, opens the link sent to the
 * new address. If that was mistyped, whoever reads the mail there gets nothing.
 */
export const createEmailChange = (parts: MailFlowParts) => {
  const { db, changes, mailer, mailQueue, throttle, ownPassword, baseUrl } = parts

  const sendLetters = async (user: User, email: string, address: string | undefined): Promise<void> => {
    const frame = { baseUrl, address }
    // Only the latest request counts. Earlier links, which may have gone to other addresses, stop working.
    await removeMailedLinks(db, user.id, 'change_email')
    if (await isTaken(db, email)) await mailer.send(emailTakenNotice(email, frame))
    else {
      const link = await issueLink(db, baseUrl, 'change_email', { userId: user.id, email })
      await mailer.send(emailChangeConfirmation(email, link, user.email, frame))
    }
    await mailer.send(emailChangeNotice(user.email, email, frame))
  }

  return {
    /**
     * Does not reveal whether another account has the new email, except in the email to that address. Throws the same
     * errors as `prove`.
     */
    requestEmailChange: async (actor: Actor, requested: { email: string; password: string }): Promise<void> => {
      const { email, password } = requested
      if (email === actor.email) {
        const errors = [{ path: 'email', message: 'is already yours' }]
        throw new AppError('invalid_request', 'This is already the email of your account.', { errors })
      }
      await throttle.countMail('change_email', { email, address: actor.address })
      await ownPassword.prove(actor, password, async user =>
        mailQueue.post('email change', () => sendLetters(user, email, actor.address)),
      )
    },

    /** Throws `forbidden` if the link belongs to another account. */
    assertOwnEmailChange: async (actor: Actor, token: string): Promise<void> => {
      const userId = (await findLinkedUserId(db, 'change_email', token)) ?? actor.userId
      if (userId !== actor.userId) throw ofAnotherAccount()
    },

    /**
     * Returns the actor's updated user. Ends all their sessions except `keptSid`. Throws `invalid_request` if the link is
     * no longer valid or another account has taken the email since, and `forbidden` if it belongs to another account.
     */
    changeEmail: (actor: Actor, token: string, keptSid: string | undefined): Promise<User> =>
      changes.commit(async (tx, announce) => {
        const { userId, email } = await takeLink(tx, 'change_email', token)
        if (userId !== actor.userId) throw ofAnotherAccount()
        const user = await userStore.findUser(tx, userId)
        if (user === undefined || (await isTaken(tx, email))) throw linkIsOver()
        await userStore.updateEmail(tx, userId, email, new Date())
        await removeMailedLinks(tx, userId)
        const sessionsEnded = await removeSessions(tx, userId, keptSid)
        await writeAudit(tx, {
          action: 'user.email_changed',
          actor,
          target: userTarget({ id: userId, email }),
          change: { email: { from: user.email, to: email }, sessionsEnded },
        })
        announce({ type: 'access_changed', userId })
        return { ...user, email }
      }),
  }
}
