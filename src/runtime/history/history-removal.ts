import { createBodyOpener } from '../../history/bodies/call-bodies.ts'
import type { Recorder } from '../../history/execution-record.ts'
import { decodeCallCursor, encodeCallCursor } from '../../history/query/call-ranges.ts'
import { selectionOf } from '../../history/query/conditions.ts'
import { describeFilters, type ExecutionFilters } from '../../history/query/execution-filters.ts'
import { removeCalls } from '../../history/query/remove-calls.ts'
import { writeAudit } from '../../identity/audit/audit.store.ts'
import type { AuditAction } from '../../identity/audit/audit-entry.ts'
import type { Database } from '../../lib/db/client.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { type CallPlace, callScopeOf } from '../../servers/access/call-scope.store.ts'
import { getServerFor } from '../../servers/servers.service.ts'
import { settle } from './settle-records.ts'

/** How long one request deletes calls. The next one goes on, so that no proxy gives up on it. */
const REMOVAL_MS = 10_000

export type HistoryRemovalParts = {
  db: Database
  sealing: Pick<Sealing, 'open'>
  recorder: Pick<Recorder, 'flush'>
}

type Removal = ExecutionFilters & { cursor?: string | undefined }

/** Returns the entry's organization and target. */
const auditedPlace = async (db: Database, actor: Actor, place: CallPlace) => {
  if ('organizationId' in place) {
    const { organizationId } = place
    return { organizationId, target: { type: 'organization', id: organizationId } }
  }
  const { id, name, organizationId } = await getServerFor(db, actor, place.serverId, 'manage')
  return { organizationId, target: { type: 'server', id, name } }
}

export const createHistoryRemoval = ({ db, sealing, recorder }: HistoryRemovalParts) => ({
  /**
   * Deletes the calls of a place that match the filters, of which there must be at least one, and were recorded before
   * now. `nextCursor` is set if there are more than one request deletes. Requires permission to manage the organization.
   */
  removeExecutions: async (
    actor: Actor,
    place: CallPlace,
    { cursor, ...filters }: Removal,
    signal: AbortSignal,
  ): Promise<{ removed: number; nextCursor: string | null }> => {
    const scope = await callScopeOf(db, actor, place, 'manage')
    const described = describeFilters(filters)
    if (Object.keys(described).length === 0) {
      throw new AppError(
        'invalid_request',
        'Set at least one filter. To delete all calls, set "to" to the current time.',
      )
    }
    const start = decodeCallCursor(cursor)
    const entry = await auditedPlace(db, actor, place)
    const audit = (action: AuditAction, change: JsonObject) => writeAudit(db, { ...entry, action, actor, change })
    await settle(recorder)
    // Written before the first call is deleted, because the process may end before the last one is.
    if (start === undefined) await audit('call.removal_began', described)
    const selection = selectionOf(scope, { ...filters, to: filters.to ?? new Date() }, createBodyOpener(sealing))
    const { removed, stoppedAt } = await removeCalls(db, selection, start, performance.now() + REMOVAL_MS, signal)
    await audit('call.removed', { ...described, removed })
    return { removed, nextCursor: stoppedAt === undefined ? null : encodeCallCursor(stoppedAt) }
  },
})
