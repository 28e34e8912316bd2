import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from './client.ts'

/** How long a probe waits for the database. */
const PROBE_TIMEOUT_MS = 2_000

/** Returns whether the database responds in time. Never rejects. */
export const isAnswering = async (db: Database): Promise<boolean> => {
  const waiting = new AbortController()
  try {
    const answer = db.$queryRaw`SELECT 1`.then(() => true)
    return await Promise.race([answer, delay(PROBE_TIMEOUT_MS, false, { signal: waiting.signal })])
  } catch {
    return false
  } finally {
    waiting.abort()
  }
}
