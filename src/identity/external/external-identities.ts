import type { IdPage } from '../../lib/http/id-paging.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import type { AccountParts } from '../account-parts.ts'
import * as accountStore from '../accounts.store.ts'
import { writeAudit } from '../audit/audit.store.ts'
import { selfTarget } from '../audit/audit-entry.ts'
import { assertConfirmed } from '../unconfirmed.ts'
import * as store from './external-identities.store.ts'
import type { ExternalSecrets } from './external-provider.ts'
import { type ExternalSignIn, LINK } from './external-sign-in.ts'

export type ExternalIdentitiesParts = AccountParts & { external: ExternalSignIn }

const passwordMissing = (): AppError =>
  new AppError('invalid_request', 'The password of this account is required.', {
    errors: [{ path: 'password', message: 'is missing' }],
  })

const noIdentity = () => new AppError('not_found', 'There is no such identity.')

/** Operations on the user's own external identities. Other users' identities are treated as missing. */
export const createExternalIdentities = ({ db, changes, ownPassword, external }: ExternalIdentitiesParts) => ({
  listIdentities: (actor: Actor, page: IdPage): Promise<store.LinkedIdentity[]> =>
    store.listIdentities(db, actor.userId, page),

  /**
   * Begins linking the account to an external identity. Linking adds a sign-in method, so it requires the password if
   * the account has one. Throws `conflict` until the email is confirmed.
   */
  beginLinking: async (
    actor: Actor,
    password: string | undefined,
  ): Promise<{ url: string; secrets: ExternalSecrets }> => {
    const found = await accountStore.findCredentials(db, { id: actor.userId })
    assertConfirmed(actor, LINK)
    const begin = () => external.beginExternalSignIn(actor.address ?? '')
    if (found?.passwordHash === undefined) return begin()
    if (password === undefined) throw passwordMissing()
    // Checked separately from the password, so that an unavailable provider does not count as a wrong password.
    await ownPassword.prove(actor, password, async () => undefined)
    return begin()
  },

  /** Throws `conflict` if the identity is the user's only way to sign in. */
  removeIdentity: (actor: Actor, id: string): Promise<void> =>
    changes.commit(async tx => {
      const removed = orThrow(await store.removeIdentity(tx, actor.userId, id), noIdentity)
      const found = await accountStore.findCredentials(tx, { id: actor.userId })
      if (found?.passwordHash === undefined && (await store.countIdentities(tx, actor.userId)) === 0) {
        throw new AppError(
          'conflict',
          'This is your only way to sign in. Set a password first, using “Forgot your password?”.',
        )
      }
      const change = { ...removed }
      await writeAudit(tx, { action: 'user.identity_unlinked', actor, target: selfTarget(actor), change })
    }),
})
