import { type Actor, AppError } from '../kernel/index.ts'
import { writeAudit } from '../platform/audit/index.ts'
import type { Transaction } from '../platform/db/index.ts'
import type { User } from './account.ts'
import * as userStore from './accounts.store.ts'
import { DEMO_EMAIL } from './demo-account.ts'
import { changeEmailLetter, emailChangeNotice, emailTakenNotice } from './letters.ts'
import type { MailFlowParts } from './mail-parts.ts'
import { linkIsOver } from './mailed-links.service.ts'
import { removeMailedLinks } from './mailed-links.store.ts'
import { removeSessions } from './sessions.store.ts'

export type EmailChangeParts = Omit<MailFlowParts, 'passwords' | 'endGrantsOf'>

const isTaken = async (tx: Transaction, email: string): Promise<boolean> =>
  email === DEMO_EMAIL || (await userStore.findUserByEmail(tx, email)) !== undefined

/** Another address for an account: it changes once a link that was sent there is opened. */
export const createEmailChange = (parts: EmailChangeParts) => {
  const { db, changes, mailer, postbox, links, throttle, ownPassword, baseUrl, now } = parts

  const sendLetters = async (user: User, email: string, address: string | undefined): Promise<void> => {
    const frame = { baseUrl, address }
    // The last wish holds: what was sent to another address before is over.
    await removeMailedLinks(db, user.id, 'change_email')
    if (await isTaken(db, email)) await mailer.send(emailTakenNotice(email, frame))
    else {
      const link = await links.issue(db, 'change_email', { userId: user.id, email })
      await mailer.send(changeEmailLetter(email, link, user.email, frame))
    }
    await mailer.send(emailChangeNotice(user.email, email, frame))
  }

  return {
    /** Answers the same whether or not the address has an account: its mail tells whose it is. Throws as `prove` does. */
    requestEmailChange: async (actor: Actor, wish: { email: string; password: string }): Promise<void> => {
      const { email, password } = wish
      if (email === actor.email) {
        const errors = [{ path: 'email', message: 'is yours already' }]
        throw new AppError('invalid_request', 'This is the address of your account already.', { errors })
      }
      await throttle.countMail('change_email', { email, address: actor.address ?? '' })
      await ownPassword.prove(actor, password, async user =>
        postbox.post('change of an address', () => sendLetters(user, email, actor.address)),
      )
    },

    /**
     * Answers the user as they are now. Ends all sessions but `keptSid`, if that is one of theirs. Throws
     * `invalid_request` for a link that is over, or an address taken since.
     */
    changeEmail: (token: string, address: string, keptSid: string | undefined): Promise<User> =>
      changes.commit(async (tx, announce) => {
        const { userId, email } = await links.take(tx, 'change_email', token)
        const user = await userStore.findUser(tx, userId)
        if (user === undefined || (await isTaken(tx, email))) throw linkIsOver()
        await userStore.updateEmail(tx, userId, email, new Date(now()))
        await removeMailedLinks(tx, userId)
        const sessionsEnded = await removeSessions(tx, userId, keptSid)
        await writeAudit(tx, {
          action: 'user.email_changed',
          actor: { userId, email: user.email, address },
          target: { type: 'user', id: userId, name: email },
          change: { email: { from: user.email, to: email }, sessionsEnded },
        })
        announce({ type: 'access_changed', userId })
        return { ...user, email }
      }),
  }
}
