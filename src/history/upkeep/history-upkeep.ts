import { setTimeout as delay } from 'node:timers/promises'
import { removeInBatches } from '../../lib/db/batches.ts'
import type { Database } from '../../lib/db/client.ts'
import { DAY_MS, MINUTE_MS } from '../../lib/kernel/durations.ts'
import type { Recorder } from '../execution-record.ts'
import type { HistoryTask, Place, RemovedCalls } from './history-tasks.ts'
import {
  findOrganizationOf,
  listLimits,
  listMovedServerIds,
  listServerIds,
  noteCallsMoved,
} from './history-upkeep.store.ts'

/** Length of the pause after a batch, as a multiple of the batch, so that at least half of the time is left to calls. */
const PAUSE_FACTOR = 1

/** Time limit for filling calls, per run of the upkeep. */
const FILL_MS = 5 * MINUTE_MS

export type HistoryUpkeepParts = { db: Database; recorder: Pick<Recorder, 'run'> }

/** Does the work on long histories in batches. If a run is aborted or fails, the next one continues its work. */
export const createHistoryUpkeep = ({ db, recorder }: HistoryUpkeepParts) => {
  /** Runs batches of a task until nothing is left to do. */
  const runAll = async (taskAfter: (last: Place | undefined) => HistoryTask, signal: AbortSignal | undefined) => {
    let last: Place | undefined
    while (!signal?.aborted) {
      const startedMs = performance.now()
      const result = await recorder.run(taskAfter(last))
      if (result.isDone) return
      last = result.last
      await delay((performance.now() - startedMs) * PAUSE_FACTOR)
    }
  }

  const removeCalls = (calls: RemovedCalls, signal: AbortSignal | undefined): Promise<void> =>
    runAll(() => ({ kind: 'remove_calls', calls }), signal)

  const removeCallsOver = async (
    { id: organizationId, keepCallsDays, keepCalls }: Awaited<ReturnType<typeof listLimits>>[number],
    now: Date,
    signal: AbortSignal,
  ): Promise<void> => {
    if (keepCallsDays !== null && !signal.aborted) {
      await removeCalls({ organizationId, until: new Date(now.getTime() - keepCallsDays * DAY_MS) }, signal)
    }
    if (keepCalls !== null && !signal.aborted) {
      const { found } = await recorder.run({ kind: 'find_limit', organizationId, keep: keepCalls })
      if (found !== undefined) await removeCalls({ organizationId, until: new Date(found) }, signal)
    }
  }

  const moveCallsOf = async (serverId: string, signal: AbortSignal): Promise<void> => {
    const organizationId = await findOrganizationOf(db, serverId)
    await runAll(after => ({ kind: 'move', serverId, after }), signal)
    if (!signal.aborted && organizationId !== undefined) await noteCallsMoved(db, serverId, organizationId)
  }

  return {
    /**
     * Sets the organization of calls from before it was recorded, and adds these calls to the sums. Stops after a while,
     * because other chores wait for it.
     */
    fill: (signal: AbortSignal): Promise<void> =>
      runAll(() => ({ kind: 'fill' }), AbortSignal.any([signal, AbortSignal.timeout(FILL_MS)])),

    /** Sets the organization of the calls of servers that have moved to another one. */
    moveCalls: async (signal: AbortSignal): Promise<void> => {
      for (const serverId of await listMovedServerIds(db)) await moveCallsOf(serverId, signal)
    },

    /**
     * Removes the calls beyond the limits on age and number that their organization has set. If that fails for some,
     * continues with the others and throws the first error at the end.
     */
    removeOldCalls: async (now: Date, signal: AbortSignal): Promise<void> => {
      const errors: unknown[] = []
      for (const limits of await listLimits(db)) {
        await removeCallsOver(limits, now, signal).catch((error: unknown) => errors.push(error))
      }
      if (errors.length > 0) throw errors[0]
    },

    /** Removes the sums that are past their retention. */
    removeOldSums: async (now: Date, signal: AbortSignal): Promise<void> => {
      for (const serverId of await listServerIds(db)) {
        await runAll(() => ({ kind: 'remove_old_sums', serverId, now }), signal)
      }
    },

    /**
     * Deletes the history of a server that is being removed, in batches and without a transaction, so it can be called
     * again after an interruption.
     */
    removeHistoryOf: async (serverId: string, signal?: AbortSignal): Promise<void> => {
      const where = { serverId }
      await removeCalls({ serverId }, signal)
      await runAll(() => ({ kind: 'remove_sums', serverId }), signal)
      await removeInBatches(limit => db.executionGap.deleteMany({ where, limit }), signal)
      await removeInBatches(limit => db.toolDay.deleteMany({ where, limit }), signal)
    },
  }
}
