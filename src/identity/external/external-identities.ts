import { type Actor, AppError } from '../kernel/index.ts'
import { writeAudit } from '../platform/audit/index.ts'
import type { Database } from '../platform/db/index.ts'
import type { Changes } from '../platform/events/index.ts'
import type { IdPage } from '../platform/http/index.ts'
import * as accountStore from './accounts.store.ts'
import { UNUSABLE_PASSWORD_HASH } from './demo-account.ts'
import * as store from './external-identities.store.ts'
import type { ExternalSecrets } from './external-provider.ts'
import type { ExternalSignIn } from './external-sign-in.ts'
import type { OwnPassword } from './own-password.ts'

export type ExternalIdentitiesParts = {
  db: Database
  changes: Changes
  ownPassword: OwnPassword
  external: Pick<ExternalSignIn, 'beginExternalSignIn'>
}

const passwordMissing = (): AppError =>
  new AppError('invalid_request', 'The password of this account is needed as well.', {
    errors: [{ path: 'password', message: 'is missing' }],
  })

/** A user's own identities at the external provider; those of others do not exist. */
export const createExternalIdentities = ({ db, changes, ownPassword, external }: ExternalIdentitiesParts) => ({
  listIdentities: (actor: Actor, page: IdPage): Promise<store.LinkedIdentity[]> =>
    store.listIdentities(db, actor.userId, page),

  /**
   * Begins to link the account to a person at the provider: a further way in, so that it takes the password where there
   * is one. Throws `conflict` while the address is not confirmed: who made an account with another's address could
   * otherwise come in by it still when its owner has taken the account back.
   */
  beginLinking: async (
    actor: Actor,
    password: string | undefined,
  ): Promise<{ url: string; secrets: ExternalSecrets }> => {
    const found = await accountStore.findCredentials(db, actor.userId)
    if (found?.user.emailVerifiedAt === undefined) {
      throw new AppError('conflict', 'Confirm your e-mail address first, by the link in the letter.')
    }
    const begin = () => external.beginExternalSignIn(actor.address ?? '')
    if (found.passwordHash === UNUSABLE_PASSWORD_HASH) return begin()
    if (password === undefined) throw passwordMissing()
    // Apart, so that a provider that is down does not count as a wrong password.
    await ownPassword.prove(actor, password, async () => undefined)
    return begin()
  },

  /** Throws `conflict` where it is the last way in. */
  removeIdentity: (actor: Actor, id: string): Promise<void> =>
    changes.commit(async tx => {
      const removed = await store.removeIdentity(tx, actor.userId, id)
      if (removed === undefined) throw new AppError('not_found', 'There is no such identity.')
      const found = await accountStore.findCredentials(tx, actor.userId)
      const hasPassword = found !== undefined && found.passwordHash !== UNUSABLE_PASSWORD_HASH
      if (!hasPassword && (await store.countIdentities(tx, actor.userId)) === 0) {
        throw new AppError(
          'conflict',
          'This is the only way into the account: set a password first, by “Forgotten password”.',
        )
      }
      const target = { type: 'user', id: actor.userId, name: actor.email }
      await writeAudit(tx, { action: 'user.identity_unlinked', actor, target, change: { ...removed } })
    }),
})
