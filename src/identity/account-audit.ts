import type { Transaction } from '../lib/db/client.ts'
import type { User } from './account.ts'
import { writeAudit } from './audit/audit.store.ts'
import { type AuditRecord, userActor, userTarget } from './audit/audit-entry.ts'

type Person = Pick<User, 'id' | 'email'>

/** Records a completed sign-in, including the second factor. A single insert, because every sign-in waits for it. */
export const auditSignIn = (tx: Transaction, user: Person, address: string): Promise<void> =>
  writeAudit(tx, { action: 'user.signed_in', actor: userActor(user, address), target: userTarget(user) })

/**
 * Records a failed sign-in with the email that was tried. Only the operator sees it, because it reveals whether the
 * account exists. Attempts rejected by the throttle are not recorded. A flood can therefore write only a hundred
 * entries an hour from one network, and a hundred a day for one account.
 */
export const auditFailedSignIn = (
  tx: Transaction,
  attempt: { email: string; address: string },
  found: Person | undefined,
): Promise<void> =>
  writeAudit(tx, {
    action: 'user.sign_in_failed',
    actor: { address: attempt.address },
    target: { type: 'user', id: found?.id, name: attempt.email },
  })

/** Records a new account. `address` is the network address of the sign-up; undefined on the command line. */
export const auditNewUser = (tx: Transaction, user: User, address: string | undefined): Promise<void> =>
  writeAudit(tx, {
    action: address === undefined ? 'user.created' : 'user.signed_up',
    actor: address === undefined ? undefined : userActor(user, address),
    target: userTarget(user),
    change: { isOperator: user.isOperator },
  })

/** Records a new account's first membership in the audit log of the organization. */
export const auditFirstMembership = (
  tx: Transaction,
  user: User,
  address: string | undefined,
  organization: { id: string; name: string; isNew: boolean; role: string },
): Promise<void> => {
  const { id, name, isNew, role } = organization
  const actor = address === undefined ? undefined : userActor(user, address)
  const entry: Pick<AuditRecord, 'action' | 'target' | 'change'> = isNew
    ? { action: 'organization.created', target: { type: 'organization', id, name }, change: { owner: user.email } }
    : { action: 'member.added', target: userTarget(user), change: { role: { from: null, to: role } } }
  return writeAudit(tx, { ...entry, actor, organizationId: id })
}
