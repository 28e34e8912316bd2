import type { Transaction } from '../platform/db/index.ts'

/** Whether fewer were found than asked for: there are no more. */
export type Swept = { isDone: boolean }

export const removeExpiredArtifacts = async (tx: Transaction, now: Date, limit: number): Promise<Swept> => {
  const rows = await tx.oAuthArtifact.findMany({ where: { expiresAt: { lt: now } }, select: { id: true }, take: limit })
  await tx.oAuthArtifact.deleteMany({ where: { id: { in: rows.map(({ id }) => id) } } })
  return { isDone: rows.length < limit }
}

/** Of clients that registered themselves: never used since before `neverUsedBefore`, or not since `idleSince`. */
export const removeIdleClients = async (
  tx: Transaction,
  { neverUsedBefore, idleSince }: { neverUsedBefore: Date; idleSince: Date },
  limit: number,
): Promise<Swept> => {
  const isIdle = [{ lastUsedAt: null, createdAt: { lt: neverUsedBefore } }, { lastUsedAt: { lt: idleSince } }]
  const where = { organizationId: null, OR: isIdle }
  const rows = await tx.oAuthClient.findMany({ where, select: { id: true }, take: limit })
  // Asked once more: one may have been used since.
  await tx.oAuthClient.deleteMany({ where: { id: { in: rows.map(({ id }) => id) }, ...where } })
  return { isDone: rows.length < limit }
}

/** Of the grants after `afterId` that were made before `madeBefore`, those that nothing was given out by any more. */
export const removeSpentGrants = async (
  tx: Transaction,
  madeBefore: Date,
  afterId: string | undefined,
  limit: number,
): Promise<{ lastId: string | undefined }> => {
  const rows = await tx.oAuthArtifact.findMany({
    where: { kind: 'Grant', createdAt: { lt: madeBefore }, ...(afterId !== undefined && { id: { gt: afterId } }) },
    select: { id: true },
    orderBy: { id: 'asc' },
    take: limit,
  })
  const ids = rows.map(({ id }) => id)
  // A grant's own row names it, too.
  const counts = await tx.oAuthArtifact.groupBy({ by: ['grantId'], where: { grantId: { in: ids } }, _count: true })
  const spent = counts.flatMap(({ grantId, _count }) => (grantId !== null && _count === 1 ? [grantId] : []))
  await tx.oAuthArtifact.deleteMany({ where: { kind: 'Grant', id: { in: spent } } })
  return { lastId: rows.length < limit ? undefined : ids.at(-1) }
}
