import { removeInBatches } from '../../lib/db/batches.ts'
import type { Database, Transaction } from '../../lib/db/client.ts'
import type { LinkPurpose } from './mailed-links.ts'

/** The recipient of a link: the user and the address it was sent to. */
export type MailedLink = { userId: string; email: string }

export const createMailedLink = async (
  tx: Transaction,
  data: { userId: string; purpose: LinkPurpose; email: string; tokenHash: string; expiresAt: Date },
): Promise<void> => {
  await tx.mailedLink.create({ data })
}

const validLinks = (purpose: LinkPurpose, tokenHash: string) => ({
  tokenHash,
  purpose,
  usedAt: null,
  expiresAt: { gt: new Date() },
})

/** Returns a link if it is still valid. */
export const findMailedLink = async (
  tx: Transaction,
  purpose: LinkPurpose,
  tokenHash: string,
): Promise<MailedLink | undefined> => {
  const select = { userId: true, email: true }
  return (await tx.mailedLink.findFirst({ where: validLinks(purpose, tokenHash), select })) ?? undefined
}

/** Uses up a link and returns it. Only one of several concurrent callers receives it. */
export const takeMailedLink = async (
  tx: Transaction,
  purpose: LinkPurpose,
  tokenHash: string,
): Promise<MailedLink | undefined> => {
  const link = await findMailedLink(tx, purpose, tokenHash)
  const used = { where: validLinks(purpose, tokenHash), data: { usedAt: new Date() } }
  return (await tx.mailedLink.updateMany(used)).count === 1 ? link : undefined
}

/** Removes a user's links, for one purpose or for all purposes. */
export const removeMailedLinks = async (tx: Transaction, userId: string, purpose?: LinkPurpose): Promise<void> => {
  await tx.mailedLink.deleteMany({ where: { userId, ...(purpose !== undefined && { purpose }) } })
}

export const removeExpiredLinks = (db: Database, now: Date, signal: AbortSignal): Promise<void> =>
  removeInBatches(limit => db.mailedLink.deleteMany({ where: { expiresAt: { lte: now } }, limit }), signal)
