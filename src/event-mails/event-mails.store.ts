import type { Transaction } from '../lib/db/client.ts'
import { type EventType, fromStoredTypes, toStoredTypes } from '../outbox/event-types.ts'

/** Returns the events that a member gets by email, if the user is a member. */
export const findChosenEvents = async (
  tx: Transaction,
  organizationId: string,
  userId: string,
): Promise<EventType[] | undefined> => {
  const where = { organizationId_userId: { organizationId, userId } }
  const member = await tx.membership.findUnique({ where, select: { eventMail: { select: { events: true } } } })
  return member === null ? undefined : fromStoredTypes(member.eventMail?.events ?? '[]')
}

/** Stores which events a member gets by email. Those that are no longer chosen are not sent if they are waiting. */
export const storeChosenEvents = async (
  tx: Transaction,
  organizationId: string,
  userId: string,
  types: readonly EventType[],
): Promise<void> => {
  const where = { organizationId_userId: { organizationId, userId } }
  const { id: membershipId } = await tx.membership.findUniqueOrThrow({ where, select: { id: true } })
  const events = toStoredTypes(types)
  const { id } = await tx.eventMail.upsert({
    where: { membershipId },
    create: { membershipId, events },
    update: { events },
    select: { id: true },
  })
  await tx.mailedEvent.deleteMany({ where: { mailId: id, event: { type: { notIn: [...types] } } } })
}

/** Ends the emails of a choice. Returns whether it exists. */
export const stopEventMails = async (tx: Transaction, id: string): Promise<boolean> => {
  const { count } = await tx.eventMail.updateMany({ where: { id }, data: { events: toStoredTypes([]), dueAt: null } })
  await tx.mailedEvent.deleteMany({ where: { mailId: id } })
  return count > 0
}
