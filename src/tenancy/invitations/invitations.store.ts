import { removeInBatches } from '../../lib/db/batches.ts'
import type { Database, Rows, Transaction } from '../../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../../lib/http/id-paging.ts'
import { mapFound } from '../../lib/kernel/missing.ts'
import type { Invitation, OpenInvitation } from '../organization.ts'

const toInvitation = ({ tokenHash: _, ...row }: Rows.Invitation): Invitation => row

/** Returns the condition for invitations that are neither accepted nor expired. */
const openNow = () => ({ acceptedAt: null, expiresAt: { gt: new Date() } })

export const findOpenInvitation = async (tx: Transaction, tokenHash: string): Promise<OpenInvitation | undefined> => {
  const row = await tx.invitation.findFirst({
    where: { tokenHash, ...openNow() },
    include: { organization: { select: { name: true } } },
  })
  if (row === null) return undefined
  const { invitedById } = row
  const sender =
    invitedById === null ? null : await tx.user.findUnique({ where: { id: invitedById }, select: { email: true } })
  return { ...toInvitation(row), organizationName: row.organization.name, invitedBy: sender?.email }
}

/** Finds an organization's open invitation by its ID or by the email address it was sent to. */
export const findOpenInvitationOf = async (
  tx: Transaction,
  organizationId: string,
  by: { id: string } | { email: string },
): Promise<Invitation | undefined> =>
  mapFound(await tx.invitation.findFirst({ where: { ...by, organizationId, ...openNow() } }), toInvitation)

export const listOpenInvitations = async (
  tx: Transaction,
  organizationId: string,
  page: IdPage,
): Promise<Invitation[]> =>
  (await tx.invitation.findMany(idPageQuery(page, { organizationId, ...openNow() }))).map(toInvitation)

/** Counts open invitations, except those to the email address `but`. */
export const countOpenInvitations = (tx: Transaction, organizationId: string, but: string): Promise<number> =>
  tx.invitation.count({ where: { organizationId, email: { not: but }, ...openNow() } })

/** Stores an invitation. Replaces any earlier invitation to the same email address, whose link then stops working. */
export const putInvitation = async (
  tx: Transaction,
  data: Omit<Rows.Invitation, 'id' | 'acceptedAt' | 'createdAt' | 'updatedAt'>,
): Promise<Invitation> => {
  const { organizationId, email } = data
  return toInvitation(
    await tx.invitation.upsert({
      where: { organizationId_email: { organizationId, email } },
      create: data,
      update: { ...data, acceptedAt: null },
    }),
  )
}

export const markAccepted = async (tx: Transaction, id: string, acceptedAt: Date): Promise<void> => {
  await tx.invitation.update({ where: { id }, data: { acceptedAt } })
}

export const removeInvitation = async (tx: Transaction, id: string): Promise<void> => {
  await tx.invitation.delete({ where: { id } })
}

/** Removes the expired invitations of all organizations, whether accepted or not. */
export const removeExpiredInvitations = (db: Database, now: Date, signal: AbortSignal): Promise<void> =>
  removeInBatches(limit => db.invitation.deleteMany({ where: { expiresAt: { lte: now } }, limit }), signal)
