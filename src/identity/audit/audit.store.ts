import { z } from 'zod'
import { removeInBatches } from '../../lib/db/batches.ts'
import type { Database, Rows, Transaction } from '../../lib/db/client.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import { definedFields, withoutNulls } from '../../lib/kernel/missing.ts'
import { enterEvents } from '../../outbox/outbox.store.ts'
import type { AuditQuery } from './audit.schema.ts'
import {
  type AuditEntry,
  type AuditRecord,
  type AuditScope,
  actionsOf,
  toEntryChange,
  toEntryText,
} from './audit-entry.ts'
import { eventsOf } from './audit-events.ts'

// The only code that accesses audit entries. It adds, reads and expires entries, but never changes them.

const textOrNull = (text: string | undefined): string | null => (text === undefined ? null : toEntryText(text))

/**
 * Records an action in the same transaction that performs it, so that either both happen or neither does. Puts its
 * events into the outbox.
 */
export const writeAudit = async (tx: Transaction, record: AuditRecord): Promise<void> => {
  const { action, actor, organizationId, target, change } = record
  await tx.auditEntry.create({
    data: {
      action,
      organizationId: organizationId ?? null,
      actorId: actor?.userId ?? null,
      actorEmail: textOrNull(actor?.email),
      address: textOrNull(actor?.address),
      targetType: target.type,
      targetId: textOrNull(target.id),
      targetName: textOrNull(target.name),
      ...(change === undefined ? {} : { change: toEntryChange(change) }),
    },
  })
  await enterEvents(tx, eventsOf(record))
}

const toChange = (stored: unknown): JsonValue | undefined =>
  stored === null || stored === undefined ? undefined : z.json().parse(stored)

const toAuditEntry = (row: Rows.AuditEntry): AuditEntry => {
  const { createdAt, targetType, targetId, targetName, change, ...rest } = withoutNulls(row)
  return {
    ...rest,
    at: createdAt,
    target: { type: targetType, id: targetId, name: targetName },
    change: toChange(change),
  }
}

/** Returns the condition that restricts a query to what the reader may see. */
const whereOf = (scope: AuditScope) => {
  switch (scope.kind) {
    case 'installation':
      return {}
    case 'organization':
      return { organizationId: scope.organizationId }
    case 'own':
      return {
        actorId: scope.userId,
        OR: [{ organizationId: null }, { organizationId: { in: [...scope.organizationIds] } }],
      }
  }
}

export type AuditFilter = Omit<AuditQuery, 'format' | 'limit' | 'cursor'>

const filterOf = ({ action, actorId, targetId, from, to }: AuditFilter) => ({
  ...(action !== undefined && { action: { in: actionsOf(action) } }),
  ...definedFields({ actorId, targetId }),
  createdAt: definedFields({ gte: from, lt: to }),
})

/** Lists at most `take` entries after `afterId`, newest first. */
export const listAuditEntries = async (
  db: Database,
  scope: AuditScope,
  filter: AuditFilter,
  { take, afterId }: { take: number; afterId: string | undefined },
): Promise<AuditEntry[]> => {
  const after = afterId === undefined ? {} : { id: { lt: afterId } }
  const where = { AND: [whereOf(scope), filterOf(filter), after] }
  return (await db.auditEntry.findMany({ where, orderBy: { id: 'desc' }, take })).map(toAuditEntry)
}

/** Removes entries older than a point in time. */
export const removeAuditEntriesBefore = (db: Database, before: Date, signal: AbortSignal): Promise<void> =>
  removeInBatches(limit => db.auditEntry.deleteMany({ where: { createdAt: { lt: before } }, limit }), signal)
