import { type Database, removeInBatches, type Transaction } from '../platform/db/index.ts'
import type { LinkPurpose } from './mailed-links.ts'

/** A link that was sent: whose, and to which address. */
export type MailedLink = { userId: string; email: string }

export const createMailedLink = async (
  tx: Transaction,
  data: { userId: string; purpose: LinkPurpose; email: string; tokenHash: string; expiresAt: Date },
): Promise<void> => {
  await tx.mailedLink.create({ data })
}

const goodLinks = (purpose: LinkPurpose, tokenHash: string, now: Date) => ({
  tokenHash,
  purpose,
  usedAt: null,
  expiresAt: { gt: now },
})

/** A link that can still be used. */
export const findMailedLink = async (
  tx: Transaction,
  purpose: LinkPurpose,
  tokenHash: string,
  now: Date,
): Promise<MailedLink | undefined> => {
  const row = await tx.mailedLink.findFirst({ where: goodLinks(purpose, tokenHash, now) })
  return row === null ? undefined : { userId: row.userId, email: row.email }
}

/** Uses a link up: of many who come with it at once, one gets it. */
export const takeMailedLink = async (
  tx: Transaction,
  purpose: LinkPurpose,
  tokenHash: string,
  now: Date,
): Promise<MailedLink | undefined> => {
  const link = await findMailedLink(tx, purpose, tokenHash, now)
  if (link === undefined) return undefined
  const { count } = await tx.mailedLink.updateMany({
    where: goodLinks(purpose, tokenHash, now),
    data: { usedAt: now },
  })
  return count === 1 ? link : undefined
}

/** Ends a user's links, of one purpose or of all. */
export const removeMailedLinks = async (tx: Transaction, userId: string, purpose?: LinkPurpose): Promise<void> => {
  await tx.mailedLink.deleteMany({ where: { userId, ...(purpose !== undefined && { purpose }) } })
}

/** Removes the links whose time is over. */
export const removeExpiredLinks = (db: Database, now: Date, signal: AbortSignal): Promise<void> =>
  removeInBatches(limit => db.mailedLink.deleteMany({ where: { expiresAt: { lte: now } }, limit }), signal)
