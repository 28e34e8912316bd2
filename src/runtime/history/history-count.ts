import { createBodyOpener } from '../../history/bodies/call-bodies.ts'
import { selectionOf } from '../../history/query/conditions.ts'
import type { ExecutionFilters } from '../../history/query/execution-filters.ts'
import { searchKeys } from '../../history/query/search-keys.ts'
import type { Database } from '../../lib/db/client.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { type CallPlace, callScopeOf } from '../../servers/access/call-scope.store.ts'

/** Most calls that are counted one by one. */
const MAX_COUNTED = 10_000

export type HistoryCountParts = { db: Database; sealing: Pick<Sealing, 'open'> }

/** Counts calls that match. `isCut` if there are more, or may be more among those that were not looked at. */
export const createHistoryCount = ({ db, sealing }: HistoryCountParts) => ({
  countExecutions: async (
    actor: Actor,
    place: CallPlace,
    filters: ExecutionFilters,
    signal?: AbortSignal,
  ): Promise<{ calls: number; isCut: boolean }> => {
    const scope = await callScopeOf(db, actor, place, 'read')
    const selection = selectionOf(scope, filters, createBodyOpener(sealing))
    const { keys, stoppedAt } = await searchKeys(db, selection, undefined, MAX_COUNTED + 1, signal)
    const isCut = keys.length > MAX_COUNTED || stoppedAt !== undefined
    return { calls: Math.min(keys.length, MAX_COUNTED), isCut }
  },
})
