import { setImmediate } from 'node:timers/promises'
import { type Database, transact } from '../../lib/db/client.ts'
import { DAY_MS } from '../../lib/kernel/durations.ts'
import { forgetRegistrations, removeExpiredArtifacts, removeIdleClients, removeSpentGrants } from './sweep.store.ts'

/** Grants per transaction. The number is small enough not to block other writers. */
const GRANTS_PER_BATCH = 200

/** Lifetime of clients that registered themselves and were never used. */
const UNUSED_CLIENT_MS = DAY_MS
/** The longest period of the limits of registrations. */
const REGISTRATION_MS = DAY_MS
const IDLE_CLIENT_MS = 90 * DAY_MS
/** The lifetime of a refresh token. A grant used within this time still has one. */
const SPENT_GRANT_MS = 30 * DAY_MS

/** Removes expired artifacts, idle clients, where older clients registered from, and grants without other artifacts. */
export const removeExpired = async (db: Database, now: Date, signal: AbortSignal): Promise<void> => {
  const before = (ms: number): Date => new Date(now.getTime() - ms)
  await removeExpiredArtifacts(db, now, signal)
  const idle = { neverUsedBefore: before(UNUSED_CLIENT_MS), idleSince: before(IDLE_CLIENT_MS) }
  await removeIdleClients(db, idle, signal)
  await forgetRegistrations(db, before(REGISTRATION_MS), signal)
  let afterHash = ''
  while (!signal.aborted) {
    const madeBefore = before(SPENT_GRANT_MS)
    const { lastHash } = await transact(db, tx => removeSpentGrants(tx, madeBefore, afterHash, GRANTS_PER_BATCH))
    if (lastHash === undefined) return
    afterHash = lastHash
    // Lets calls run between SQLite statements, which block this process.
    await setImmediate()
  }
}
