import { type Database, removeInBatches, type Transaction } from '../platform/db/index.ts'

/** Each stands in eight indexes. */
const ARTIFACTS_PER_BATCH = 100

export const removeExpiredArtifacts = (db: Database, now: Date, signal: AbortSignal): Promise<void> => {
  const where = { expiresAt: { lt: now } }
  return removeInBatches(limit => db.oAuthArtifact.deleteMany({ where, limit }), signal, ARTIFACTS_PER_BATCH)
}

/** Of clients that registered themselves: never used since before `neverUsedBefore`, or not since `idleSince`. */
export const removeIdleClients = (
  db: Database,
  { neverUsedBefore, idleSince }: { neverUsedBefore: Date; idleSince: Date },
  signal: AbortSignal,
): Promise<void> => {
  const isIdle = [{ lastUsedAt: null, createdAt: { lt: neverUsedBefore } }, { lastUsedAt: { lt: idleSince } }]
  const where = { organizationId: null, OR: isIdle }
  return removeInBatches(limit => db.oAuthClient.deleteMany({ where, limit }), signal)
}

/**
 * Of the next grants that were made before `madeBefore`, those that nothing was given out by any more. They come in the
 * order of their hashes, after `afterHash`: that is the index which leads to all grants.
 */
export const removeSpentGrants = async (
  tx: Transaction,
  madeBefore: Date,
  afterHash: string,
  limit: number,
): Promise<{ lastHash: string | undefined }> => {
  const rows = await tx.oAuthArtifact.findMany({
    where: { kind: 'Grant', handleHash: { gt: afterHash }, createdAt: { lt: madeBefore } },
    select: { id: true, handleHash: true },
    orderBy: { handleHash: 'asc' },
    take: limit,
  })
  const ids = rows.map(({ id }) => id)
  // A grant's own row names it, too.
  const counts = await tx.oAuthArtifact.groupBy({ by: ['grantId'], where: { grantId: { in: ids } }, _count: true })
  const spent = counts.flatMap(({ grantId, _count }) => (grantId !== null && _count === 1 ? [grantId] : []))
  await tx.oAuthArtifact.deleteMany({ where: { kind: 'Grant', id: { in: spent } } })
  return { lastHash: rows.length < limit ? undefined : rows.at(-1)?.handleHash }
}
