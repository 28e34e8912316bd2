import { writeAudit } from '../platform/audit/index.ts'
import type { Transaction } from '../platform/db/index.ts'
import type { Announce } from '../platform/events/index.ts'
import type { User } from './account.ts'
import * as userStore from './accounts.store.ts'
import { DEMO_EMAIL } from './demo-account.ts'
import { endEverythingOf } from './end-everything.ts'
import { passwordChangedLetter, resetPasswordLetter } from './letters.ts'
import type { MailFlowParts } from './mail-parts.ts'
import { linkIsOver } from './mailed-links.service.ts'
import { removeTokensOf } from './tokens.store.ts'

export type PasswordResetParts = Omit<MailFlowParts, 'ownPassword'>

/** A new password for who has forgotten the old one and reads the mail of the account. */
export const createPasswordReset = (parts: PasswordResetParts) => {
  const { db, changes, mailer, postbox, links, throttle, passwords, endGrantsOf, baseUrl, now } = parts

  const sendLink = async (email: string, address: string): Promise<void> => {
    const user = await userStore.findUserByEmail(db, email)
    if (user === undefined || email === DEMO_EMAIL) return
    const link = await links.issue(db, 'reset_password', { userId: user.id, email })
    await mailer.send(resetPasswordLetter(email, link, { baseUrl, address }))
  }

  const setPassword = async (
    tx: Transaction,
    announce: Announce,
    { token, passwordHash, address }: { token: string; passwordHash: string; address: string },
  ): Promise<User> => {
    const { userId, email } = await links.take(tx, 'reset_password', token)
    const user = await userStore.findUser(tx, userId)
    if (user === undefined || user.email !== email) throw linkIsOver()
    await userStore.updatePasswordHash(tx, userId, passwordHash)
    // The link came by the address's mail, as one to confirm it does. Whoever had the account before that may have
    // been somebody else, who is not to keep a way in.
    const isFirstProof = await userStore.markEmailVerified(tx, userId, new Date(now()))
    const tokensRemoved = isFirstProof ? await removeTokensOf(tx, userId) : 0
    const change = { ...(await endEverythingOf(tx, userId, endGrantsOf)), tokensRemoved }
    const target = { type: 'user', id: userId, name: email }
    await writeAudit(tx, { action: 'user.password_reset', actor: { userId, email, address }, target, change })
    announce({ type: 'access_changed', userId })
    return user
  }

  return {
    /** Looks for the account and sends the link after the answer: neither its text nor its time tells of one. */
    requestReset: async ({ email, address }: { email: string; address: string }): Promise<void> => {
      await throttle.countMail('reset_password', { email, address })
      postbox.post('new password', () => sendLink(email, address))
    },

    /** Throws `invalid_request` for a link that is over. Signs nobody in: a second factor would be passed by. */
    resetPassword: async (wish: { token: string; password: string; address: string }): Promise<void> => {
      const { token, password, address } = wish
      // Taken where it counts; here it only spares the hashing.
      await links.check(db, 'reset_password', token)
      const passwordHash = await passwords.hashPassword(password)
      const { email } = await changes.commit((tx, announce) =>
        setPassword(tx, announce, { token, passwordHash, address }),
      )
      // Who was blocked for having forgotten it is let in with the new one.
      await throttle.forgiveSignIn({ email, address })
      const letter = passwordChangedLetter(email, { baseUrl, address })
      postbox.post('notice of a new password', () => mailer.send(letter))
    },
  }
}
