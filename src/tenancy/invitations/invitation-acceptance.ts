import { addMember, markEmailVerified } from '../../identity/accounts.store.ts'
import { writeAudit } from '../../identity/audit/audit.store.ts'
import { type AuditActor, userActor, userTarget } from '../../identity/audit/audit-entry.ts'
import { linkHashOf } from '../../identity/mail/mailed-links.ts'
import type { Transaction } from '../../lib/db/client.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Role } from '../../lib/kernel/roles.ts'
import { findRole } from '../members.store.ts'
import type { OpenInvitation } from '../organization.ts'
import { findOpenInvitation, markAccepted } from './invitations.store.ts'

/** Returns an open invitation. Throws the same `not_found` for used, replaced, withdrawn, expired and unknown links. */
export const getOpenInvitation = async (tx: Transaction, token: string): Promise<OpenInvitation> => {
  const tokenHash = linkHashOf(token)
  const invitation = tokenHash === undefined ? undefined : await findOpenInvitation(tx, tokenHash)
  if (invitation !== undefined) return invitation
  throw new AppError('not_found', 'This invitation is no longer valid. Ask the sender for a new one.')
}

/** Throws `forbidden` unless the account has the invited email: accepting an invitation also verifies that email. */
const getInvitationFor = async (tx: Transaction, token: string, email: string): Promise<OpenInvitation> => {
  const invitation = await getOpenInvitation(tx, token)
  if (invitation.email === email) return invitation
  throw new AppError('forbidden', 'This invitation is for another email. Use the email that it was sent to.', {
    errors: [{ path: 'email', message: 'is not the one that the invitation was sent to' }],
  })
}

export type Joined = {
  id: string
  name: string
  role: Role
  /** Whether the user was already a member. If so, their role is unchanged. */
  wasMember: boolean
}

/** Makes the user a member, verifies their email and uses up the invitation. Throws like `getInvitationFor`. */
export const acceptInvitation = async (
  tx: Transaction,
  token: string,
  user: { id: string; email: string },
  actor: AuditActor,
): Promise<Joined> => {
  const { id, organizationId, organizationName, role, email } = await getInvitationFor(tx, token, user.email)
  const now = new Date()
  await markAccepted(tx, id, now)
  // Opening the link proves that the user receives mail at this address.
  if (await markEmailVerified(tx, user.id, now)) {
    await writeAudit(tx, { action: 'user.email_verified', actor, target: userTarget(user) })
  }
  const held = await findRole(tx, organizationId, user.id)
  if (held === undefined) await addMember(tx, { organizationId, userId: user.id, role })
  const target = { type: 'invitation', id, name: email }
  await writeAudit(tx, { action: 'invitation.accepted', actor, organizationId, target })
  return { id: organizationId, name: organizationName, role: held ?? role, wasMember: held !== undefined }
}

/** The invitation operations that sign-up needs. */
export const invitationsForSignUp = {
  assertGoodFor: getInvitationFor,
  accept: (tx: Transaction, token: string, user: { id: string; email: string }, address: string): Promise<Joined> =>
    acceptInvitation(tx, token, user, userActor(user, address)),
}
