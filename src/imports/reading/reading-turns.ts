import { createFairQueue, type FindCreator } from '../../lib/worker/fair-queue.ts'

/** Sources that wait to be read in this process, and those of one creator or organization, with checks by hand. */
const MAX_WAITING = 1_000
const MAX_WAITING_OF_CREATOR = 30
/** The largest description takes half as long. */
const SLOW_AFTER_MS = 30_000
/** How long the sources of a user come after those of all others, once one was slow. */
const SLOW_MS = 10 * 60_000

/**
 * Lets one source be read at a time. The creators of organizations take turns, and those with slow sources go last, so
 * that nobody holds up the others for long. Throws QueueFullError or AbortedError if the work never starts.
 */
export const createTurns = (findCreator: FindCreator, now?: () => number) => {
  const queue = createFairQueue(
    {
      ...{ maxRunning: 1, maxRunningOfOwner: 1, maxRunningOfGroup: 1, maxWaiting: MAX_WAITING },
      ...{ maxWaitingOfOwner: MAX_WAITING_OF_CREATOR, maxWaitingOfGroup: MAX_WAITING_OF_CREATOR },
      ...{ slowAfterMs: SLOW_AFTER_MS, slowMs: SLOW_MS },
    },
    now,
  )
  return async <T>(organizationId: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    const creator = await findCreator(organizationId)
    return queue.run({ owner: creator ?? organizationId, group: organizationId, creator }, work, signal)
  }
}

export type ReadingTurns = ReturnType<typeof createTurns>
