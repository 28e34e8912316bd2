import type { Actor } from '../kernel/index.ts'
import { type AuditActor, writeAudit } from '../platform/audit/index.ts'
import type { Transaction } from '../platform/db/index.ts'
import type { AccessToken, User } from './account.ts'

type Person = Pick<User, 'id' | 'email'>

/** Somebody at an address, as the log names who did something. */
const asActor = ({ id, email }: Person, address: string | undefined): AuditActor => ({
  userId: id,
  email,
  ...(address === undefined ? {} : { address }),
})

const asTarget = ({ id, email }: Person) => ({ type: 'user', id, name: email })

/** A sign-in that is complete, second factor and all. One insert: it stands in the way of every sign-in. */
export const auditSignIn = (tx: Transaction, user: Person, address: string): Promise<void> =>
  writeAudit(tx, { action: 'user.signed_in', actor: asActor(user, address), target: asTarget(user) })

/**
 * A sign-in that was looked at and failed, with the address that was tried: for the operator alone, since it tells
 * whether there is such an account. What the throttle refuses is not looked at and leaves no entry, so that no flood
 * writes more than the throttle lets through: a hundred an hour from one network, and a hundred a day for one account.
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

export const auditSignOut = (tx: Transaction, actor: Actor): Promise<void> =>
  writeAudit(tx, {
    action: 'user.signed_out',
    actor,
    target: { type: 'user', id: actor.userId, name: actor.email },
  })

/** `address`: where somebody signed up from; undefined for an account made at the command line. */
export const auditNewUser = (tx: Transaction, user: User, address: string | undefined): Promise<void> =>
  writeAudit(tx, {
    action: address === undefined ? 'user.created' : 'user.signed_up',
    actor: address === undefined ? undefined : asActor(user, address),
    target: asTarget(user),
    change: { isOperator: user.isOperator },
  })

/** Where a new account's first membership is, as the log of that organization says it. */
export const auditFirstMembership = (
  tx: Transaction,
  user: User,
  address: string | undefined,
  organization: { id: string; name: string; isNew: boolean; role: string },
): Promise<void> => {
  const { id, name, isNew, role } = organization
  const actor = address === undefined ? undefined : asActor(user, address)
  return isNew
    ? writeAudit(tx, {
        action: 'organization.created',
        actor,
        organizationId: id,
        target: { type: 'organization', id, name },
        change: { owner: user.email },
      })
    : writeAudit(tx, {
        action: 'member.added',
        actor,
        organizationId: id,
        target: asTarget(user),
        change: { role: { from: null, to: role } },
      })
}

/** `actor`: undefined at the command line. Never the token itself. */
export const auditNewToken = (
  tx: Transaction,
  actor: Actor | undefined,
  { id, name, userId, scopes, expiresAt }: AccessToken,
): Promise<void> =>
  writeAudit(tx, {
    action: 'token.created',
    actor,
    target: { type: 'token', id, name },
    change: { userId, scopes: [...scopes], expiresAt: expiresAt.toISOString() },
  })

export const auditRemovedToken = (tx: Transaction, actor: Actor, { id, name }: AccessToken): Promise<void> =>
  writeAudit(tx, { action: 'token.removed', actor, target: { type: 'token', id, name } })
