import { setImmediate } from 'node:timers/promises'
import { type Database, transact } from '../platform/db/index.ts'
import { removeExpiredArtifacts, removeIdleClients, removeSpentGrants } from './sweep.store.ts'

const HOUR_MS = 60 * 60 * 1_000
const DAY_MS = 24 * HOUR_MS
/** Grants looked at in one transaction: none keeps other writers waiting. */
const GRANTS_PER_BATCH = 200

/** A client that registered itself and was granted nothing since. */
const UNUSED_CLIENT_MS = DAY_MS
const IDLE_CLIENT_MS = 90 * DAY_MS
/** A refresh token lasts as long: whoever has used a grant in that time still holds one. */
const SPENT_GRANT_MS = 30 * DAY_MS

/** Removes what is over: expired artifacts, clients that nobody uses, grants that nothing hangs on any more. */
export const removeWhatIsOver = async (db: Database, now: Date, signal: AbortSignal): Promise<void> => {
  const before = (ms: number): Date => new Date(now.getTime() - ms)
  await removeExpiredArtifacts(db, now, signal)
  const idle = { neverUsedBefore: before(UNUSED_CLIENT_MS), idleSince: before(IDLE_CLIENT_MS) }
  await removeIdleClients(db, idle, signal)
  let afterHash = ''
  while (!signal.aborted) {
    const madeBefore = before(SPENT_GRANT_MS)
    const { lastHash } = await transact(db, tx => removeSpentGrants(tx, madeBefore, afterHash, GRANTS_PER_BATCH))
    if (lastHash === undefined) return
    afterHash = lastHash
    // On SQLite nothing else is done in this process while a statement runs: calls get their turn here.
    await setImmediate()
  }
}
