import type { Transaction } from '../db/index.ts'
import type { AuditRecord } from './audit-entry.ts'

/** Writes down what was done, in the transaction that does it: neither happens without the other. */
export const writeAudit = async (tx: Transaction, record: AuditRecord): Promise<void> => {
  const { action, actor, organizationId, target, change } = record
  await tx.auditEntry.create({
    data: {
      action,
      organizationId: organizationId ?? null,
      actorId: actor?.userId ?? null,
      actorEmail: actor?.email ?? null,
      address: actor?.address ?? null,
      targetType: target.type,
      targetId: target.id ?? null,
      targetName: target.name ?? null,
      ...(change === undefined ? {} : { change }),
    },
  })
}
