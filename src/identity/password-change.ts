import type { Actor } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import type { MailFlowParts } from './account-parts.ts'
import * as userStore from './accounts.store.ts'
import { writeAudit } from './audit/audit.store.ts'
import { selfTarget } from './audit/audit-entry.ts'
import { passwordChangedEmail } from './mail/emails.ts'
import { endEverythingOf } from './sign-in/end-everything.ts'

/** Operation that changes the password of a signed-in user who knows the current one. */
export const createPasswordChange = (parts: MailFlowParts) => {
  const { changes, mailer, mailQueue, passwords, ownPassword, endGrantsOf, baseUrl } = parts
  return {
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
            const change = await endEverythingOf(tx, id, endGrantsOf)
            await writeAudit(tx, { action: 'user.password_changed', actor, target: selfTarget(actor), change })
            announce({ type: 'access_changed', userId: id })
          })
          const letter = passwordChangedEmail(email, { baseUrl, address: actor.address })
          mailQueue.post('password changed', () => mailer.send(letter))
        },
        'currentPassword',
      ),
  }
}
