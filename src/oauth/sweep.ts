import { type Database, transact } from '../platform/db/index.ts'
import { removeExpiredArtifacts, removeIdleClients, removeSpentGrants } from './sweep.store.ts'

const HOUR_MS = 60 * 60 * 1_000
const DAY_MS = 24 * HOUR_MS
/** Rows removed by one statement: none keeps other writers waiting. */
const BATCH = 500

/** A client that registered itself and was granted nothing since. */
const UNUSED_CLIENT_MS = DAY_MS
const IDLE_CLIENT_MS = 90 * DAY_MS
/** A refresh token lasts as long: whoever has used a grant in that time still holds one. */
const SPENT_GRANT_MS = 30 * DAY_MS

/** Removes what is over: expired artifacts, clients that nobody uses, grants that nothing hangs on any more. */
export const removeWhatIsOver = async (db: Database, now: Date, signal: AbortSignal): Promise<void> => {
  const before = (ms: number): Date => new Date(now.getTime() - ms)
  const inBatches = async (removeBatch: () => Promise<{ isDone: boolean }>): Promise<void> => {
    while (!signal.aborted) if ((await removeBatch()).isDone) return
  }

  await inBatches(() => removeExpiredArtifacts(db, now, BATCH))
  const idle = { neverUsedBefore: before(UNUSED_CLIENT_MS), idleSince: before(IDLE_CLIENT_MS) }
  await inBatches(() => removeIdleClients(db, idle, BATCH))
  let afterId: string | undefined
  await inBatches(async () => {
    const { lastId } = await transact(db, tx => removeSpentGrants(tx, before(SPENT_GRANT_MS), afterId, BATCH))
    afterId = lastId
    return { isDone: lastId === undefined }
  })
}
