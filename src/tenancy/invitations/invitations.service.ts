import { writeAudit } from '../../identity/audit/audit.store.ts'
import { userTarget } from '../../identity/audit/audit-entry.ts'
import { makeLinkToken } from '../../identity/mail/mailed-links.ts'
import type { Database, Transaction } from '../../lib/db/client.ts'
import type { Counters } from '../../lib/db/counters.ts'
import type { Changes } from '../../lib/events/changes.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import { type Actor, assertMay } from '../../lib/kernel/actor.ts'
import { DAY_MS } from '../../lib/kernel/durations.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import { permissionOver, type Role } from '../../lib/kernel/roles.ts'
import type { Mailer } from '../../lib/mail/mailer.ts'
import { assertStillMay } from '../current-role.ts'
import { findMemberByEmail } from '../members.store.ts'
import type { Invitation, OpenInvitation, Organization } from '../organization.ts'
import { getOrganization } from '../organizations.service.ts'
import { acceptInvitation, getOpenInvitation } from './invitation-acceptance.ts'
import { INVITATION_DAYS, invitationEmail, invitationPath } from './invitation-link.ts'
import { countInvitation } from './invitation-throttle.ts'
import * as store from './invitations.store.ts'

export type InvitationServiceParts = {
  db: Database
  changes: Changes
  counters: Counters
  mailer: Pick<Mailer, 'send'>
  baseUrl: string
}

/** Maximum number of pending invitations per organization. */
const MAX_OPEN_INVITATIONS = 100

const assertNoMember = async (tx: Transaction, organizationId: string, email: string): Promise<void> => {
  if ((await findMemberByEmail(tx, organizationId, email)) === undefined) return
  throw new AppError('conflict', 'This person is already a member of the organization.', {
    errors: [{ path: 'email', message: 'belongs to a member' }],
  })
}

const assertRoom = async (tx: Transaction, organizationId: string, email: string): Promise<void> => {
  if ((await store.countOpenInvitations(tx, organizationId, email)) < MAX_OPEN_INVITATIONS) return
  const message = `An organization can have at most ${MAX_OPEN_INVITATIONS} pending invitations. Withdraw some first.`
  throw new AppError('limit_exceeded', message)
}

const getInvitation = async (tx: Transaction, organizationId: string, id: string): Promise<Invitation> => {
  const invitation = await store.findOpenInvitationOf(tx, organizationId, { id })
  return orThrow(invitation, () => new AppError('not_found', 'Invitation not found.'))
}

const targetOf = ({ id, email }: Invitation) => ({ type: 'invitation', id, name: email })

export const createInvitationService = ({ db, changes, counters, mailer, baseUrl }: InvitationServiceParts) => {
  const putInvitation = (actor: Actor, organizationId: string, email: string, role: Role, tokenHash: string) =>
    changes.commit(async tx => {
      await assertStillMay(tx, actor, organizationId, permissionOver(role))
      const organization = await getOrganization(tx, actor, organizationId)
      await assertNoMember(tx, organizationId, email)
      const before = await store.findOpenInvitationOf(tx, organizationId, { email })
      if (before !== undefined) await assertStillMay(tx, actor, organizationId, permissionOver(before.role))
      await assertRoom(tx, organizationId, email)
      const expiresAt = new Date(Date.now() + INVITATION_DAYS * DAY_MS)
      const data = { organizationId, email, role, invitedById: actor.userId, tokenHash, expiresAt }
      const invitation = await store.putInvitation(tx, data)
      const change = { role, expiresAt: expiresAt.toISOString() }
      const target = targetOf(invitation)
      await writeAudit(tx, { action: 'invitation.created', actor, organizationId, target, change })
      return { invitation, organizationName: organization.name }
    })

  const invite = async (
    actor: Actor,
    organizationId: string,
    { email, role }: { email: string; role: Role },
  ): Promise<Invitation> => {
    assertMay(actor, organizationId, permissionOver(role))
    await countInvitation(counters, { senderId: actor.userId, organizationId, email })
    const { token, tokenHash } = makeLinkToken()
    const { invitation, organizationName } = await putInvitation(actor, organizationId, email, role, tokenHash)
    const link = `${baseUrl}${invitationPath(token)}`
    await mailer.send(invitationEmail({ ...invitation, organizationName, invitedBy: actor.email }, link, baseUrl))
    return invitation
  }

  return {
    /**
     * Emails an invitation link, whether or not the recipient has an account. Invalidates any earlier invitation to the
     * same address. Throws `conflict` if the address belongs to a member, and `unavailable` if the email cannot be
     * sent.
     */
    invite,

    /** Sends a new link to the same address for the same role, and invalidates the previous link. */
    renewInvitation: async (actor: Actor, organizationId: string, id: string): Promise<Invitation> => {
      assertMay(actor, organizationId, 'manage')
      const invitation = await getInvitation(db, organizationId, id)
      return invite(actor, organizationId, invitation)
    },

    listInvitations: async (actor: Actor, organizationId: string, page: IdPage): Promise<Invitation[]> => {
      assertMay(actor, organizationId, 'manage')
      return store.listOpenInvitations(db, organizationId, page)
    },

    withdrawInvitation: (actor: Actor, organizationId: string, id: string): Promise<void> =>
      changes.commit(async tx => {
        await assertStillMay(tx, actor, organizationId, 'manage')
        const invitation = await getInvitation(tx, organizationId, id)
        await assertStillMay(tx, actor, organizationId, permissionOver(invitation.role))
        await store.removeInvitation(tx, id)
        const target = targetOf(invitation)
        const change = { role: invitation.role }
        await writeAudit(tx, { action: 'invitation.removed', actor, organizationId, target, change })
      }),

    /** Returns the invitation that a link belongs to. Throws `not_found` if the link is no longer valid. */
    getOpenInvitation: (token: string): Promise<OpenInvitation> => getOpenInvitation(db, token),

    /**
     * Makes the actor a member. Throws `not_found` if the link is no longer valid, and `forbidden` if it was sent to
     * another email address.
     */
    acceptInvitation: (actor: Actor, token: string): Promise<Organization> =>
      changes.commit(async (tx, announce) => {
        const user = { id: actor.userId, email: actor.email }
        const { id, role, wasMember } = await acceptInvitation(tx, token, user, actor)
        if (!wasMember) {
          const change = { role: { from: null, to: role } }
          await writeAudit(tx, { action: 'member.added', actor, organizationId: id, target: userTarget(user), change })
        }
        announce({ type: 'access_changed', userId: actor.userId })
        return getOrganization(tx, actor, id)
      }),
  }
}

export type InvitationService = ReturnType<typeof createInvitationService>
