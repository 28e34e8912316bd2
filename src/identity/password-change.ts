import { type Actor, AppError } from '../kernel/index.ts'
import { writeAudit } from '../platform/audit/index.ts'
import * as userStore from './accounts.store.ts'
import { endEverythingOf } from './end-everything.ts'
import { passwordChangedLetter } from './letters.ts'
import type { MailFlowParts } from './mail-parts.ts'

export type PasswordChangeParts = Pick<
  MailFlowParts,
  'changes' | 'mailer' | 'postbox' | 'passwords' | 'ownPassword' | 'endGrantsOf' | 'baseUrl'
>

/** Another password for who is signed in and knows the one of now. */
export const createPasswordChange = (parts: PasswordChangeParts) => {
  const { changes, mailer, postbox, passwords, ownPassword, endGrantsOf, baseUrl } = parts
  return {
    /** Ends every session, the one it is asked in too: that one is to begin anew. Throws as `prove` does. */
    changePassword: (actor: Actor, wish: { currentPassword: string; password: string }): Promise<void> =>
      ownPassword.prove(
        actor,
        wish.currentPassword,
        async ({ id, email }, from) => {
          const to = await passwords.hashPassword(wish.password)
          await changes.commit(async (tx, announce) => {
            if (!(await userStore.replacePasswordHash(tx, id, { from, to }))) {
              throw new AppError('conflict', 'The password was changed by another request meanwhile.')
            }
            const change = await endEverythingOf(tx, id, endGrantsOf)
            const target = { type: 'user', id, name: email }
            await writeAudit(tx, { action: 'user.password_changed', actor, target, change })
            announce({ type: 'access_changed', userId: id })
          })
          const letter = passwordChangedLetter(email, { baseUrl, address: actor.address })
          postbox.post('notice of a new password', () => mailer.send(letter))
        },
        'currentPassword',
      ),
  }
}
