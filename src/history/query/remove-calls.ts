import { setImmediate } from 'node:timers/promises'
import type { Database } from '../../lib/db/client.ts'
import { type CallKey, listKeys, rangesOf } from './call-ranges.ts'
import { findText } from './call-text.ts'
import type { Selection } from './conditions.ts'

/** Calls per query and per DELETE statement, which blocks other writes for only a few milliseconds. */
const CALLS_AT_ONCE = 500

/** The calls removed. `stoppedAt` is the last call looked at, if the deadline came before the end. */
export type Removed = { removed: number; stoppedAt: CallKey | undefined }

/**
 * Deletes the calls of a selection, newest first, until `deadline` on the clock of `performance.now()` or until the
 * signal aborts. Yields between batches so that other writes can proceed, and, because SQLite runs on this thread, other
 * calls too.
 */
export const removeCalls = async (
  db: Database,
  selection: Selection,
  start: CallKey | undefined,
  deadline: number,
  signal: AbortSignal,
): Promise<Removed> => {
  const { q } = selection
  let removed = 0
  for await (const range of rangesOf(db, selection, start, () => CALLS_AT_ONCE)) {
    const keys =
      q === undefined ? await listKeys(db, selection, range, CALLS_AT_ONCE) : await findText(db, selection, range, q)
    if (keys.length > 0) {
      removed += (await db.execution.deleteMany({ where: { id: { in: keys.map(({ id }) => id) } } })).count
    }
    if (performance.now() > deadline || signal.aborted) return { removed, stoppedAt: range.until }
    await setImmediate()
  }
  return { removed, stoppedAt: undefined }
}
