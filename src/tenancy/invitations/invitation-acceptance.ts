import { linkHashOf, markEmailVerified } from '../accounts/index.ts'
import { AppError, type Role } from '../kernel/index.ts'
import { type AuditActor, writeAudit } from '../platform/audit/index.ts'
import type { Transaction } from '../platform/db/index.ts'
import { findOpenInvitation, markAccepted } from './invitations.store.ts'
import { addMember, findRole } from './members.store.ts'
import type { OpenInvitation } from './organization.ts'

/** Throws `not_found`, the same for a link that was used, replaced, withdrawn or is too old, and for one never sent. */
export const getOpenInvitation = async (tx: Transaction, token: string): Promise<OpenInvitation> => {
  const tokenHash = linkHashOf(token)
  const invitation = tokenHash === undefined ? undefined : await findOpenInvitation(tx, tokenHash, new Date())
  if (invitation !== undefined) return invitation
  throw new AppError('not_found', 'This invitation is not good any more: ask whoever sent it for another one.')
}

/** Only who reads the mail of the invited address takes the invitation up: it says so of the account as well. */
const getInvitationFor = async (tx: Transaction, token: string, email: string): Promise<OpenInvitation> => {
  const invitation = await getOpenInvitation(tx, token)
  if (invitation.email === email) return invitation
  throw new AppError('forbidden', 'This invitation is for another e-mail address: use the one that it was sent to.', {
    errors: [{ path: 'email', message: 'is not the one that was invited' }],
  })
}

export type Joined = {
  id: string
  name: string
  role: Role
  /** Whether they belonged to it already: then their role is as it was. */
  wasMember: boolean
}

/** Makes the user a member, their address verified, and the invitation used. Throws as `getInvitationFor`. */
export const acceptInvitation = async (
  tx: Transaction,
  token: string,
  user: { id: string; email: string },
  actor: AuditActor,
): Promise<Joined> => {
  const { id, organizationId, organizationName, role, email } = await getInvitationFor(tx, token, user.email)
  const now = new Date()
  await markAccepted(tx, id, now)
  // Who opened the letter has shown whose address it is.
  if (await markEmailVerified(tx, user.id, now)) {
    await writeAudit(tx, {
      action: 'user.email_verified',
      actor,
      target: { type: 'user', id: user.id, name: user.email },
    })
  }
  const held = await findRole(tx, organizationId, user.id)
  if (held === undefined) await addMember(tx, { organizationId, userId: user.id, role })
  await writeAudit(tx, {
    action: 'invitation.accepted',
    actor,
    organizationId,
    target: { type: 'invitation', id, name: email },
  })
  return { id: organizationId, name: organizationName, role: held ?? role, wasMember: held !== undefined }
}

/** What sign-up asks of invitations. */
export const invitationsForSignUp = {
  assertGoodFor: async (tx: Transaction, token: string, email: string): Promise<void> => {
    await getInvitationFor(tx, token, email)
  },
  accept: (tx: Transaction, token: string, user: { id: string; email: string }, address: string): Promise<Joined> =>
    acceptInvitation(tx, token, user, { userId: user.id, email: user.email, address }),
}
