import { removeInBatches } from '../../lib/db/batches.ts'
import type { Database, Transaction } from '../../lib/db/client.ts'

/** Batches are small, because each row is in eight indexes. */
const ARTIFACTS_PER_BATCH = 100

export const removeExpiredArtifacts = (db: Database, now: Date, signal: AbortSignal): Promise<void> => {
  const where = { expiresAt: { lt: now } }
  return removeInBatches(limit => db.oAuthArtifact.deleteMany({ where, limit }), signal, ARTIFACTS_PER_BATCH)
}

/**
 * Removes self-registered clients that were created before `neverUsedBefore` and never used, or last used before
 * `idleSince`.
 */
export const removeIdleClients = (
  db: Database,
  { neverUsedBefore, idleSince }: { neverUsedBefore: Date; idleSince: Date },
  signal: AbortSignal,
): Promise<void> => {
  const isIdle = [{ lastUsedAt: null, createdAt: { lt: neverUsedBefore } }, { lastUsedAt: { lt: idleSince } }]
  const where = { organizationId: null, OR: isIdle }
  return removeInBatches(limit => db.oAuthClient.deleteMany({ where, limit }), signal)
}

/** Forgets where clients that were created before `createdBefore` registered from. */
export const forgetRegistrations = (db: Database, createdBefore: Date, signal: AbortSignal): Promise<void> => {
  const where = { registeredFrom: { not: null }, createdAt: { lt: createdBefore } }
  const data = { registeredFrom: null, metadataHash: null }
  return removeInBatches(limit => db.oAuthClient.updateMany({ where, data, limit }), signal)
}

/**
 * Reads the next `limit` grants created before `madeBefore` and removes those that have no other artifacts. Pages by
 * hash, starting after `afterHash`, because the index over all grants has this order.
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
  // The count includes the grant's own row.
  const counts = await tx.oAuthArtifact.groupBy({ by: ['grantId'], where: { grantId: { in: ids } }, _count: true })
  const spent = counts.flatMap(({ grantId, _count }) => (grantId !== null && _count === 1 ? [grantId] : []))
  await tx.oAuthArtifact.deleteMany({ where: { kind: 'Grant', id: { in: spent } } })
  return { lastHash: rows.length < limit ? undefined : rows.at(-1)?.handleHash }
}
