import { setImmediate } from 'node:timers/promises'
import type { Database } from '../../lib/db/client.ts'
import { type CallKey, listKeys, rangesOf } from './call-ranges.ts'
import { findText } from './call-text.ts'
import type { Selection } from './conditions.ts'

/** Limits of a search for one page: the calls that it reads, and how long it takes. */
const MAX_CALLS = 20_000
const MAX_MS = 2_000

/** Calls per query: few at first, because most filters match some of the newest calls. SQLite blocks the thread. */
const FIRST_CALLS = 500
const MOST_CALLS = 2_000
/** Calls per query of a text search, which reads their texts. */
const CALLS_WITH_TEXT = 250

const sizeOf = ({ q }: Selection, index: number, left: number): number =>
  Math.min(left, q === undefined ? Math.min(MOST_CALLS, FIRST_CALLS * 2 ** index) : CALLS_WITH_TEXT)

/** The calls found, newest first. `stoppedAt` is the last call looked at, if there are more that were not. */
export type FoundKeys = { keys: CallKey[]; stoppedAt: CallKey | undefined }

/** Finds up to `wanted` calls that match, starting after `start`. Looks at a limited number of calls. */
export const searchKeys = async (
  db: Database,
  selection: Selection,
  start: CallKey | undefined,
  wanted: number,
  signal?: AbortSignal,
): Promise<FoundKeys> => {
  const { rest, q } = selection
  if (rest === undefined && q === undefined) {
    return { keys: await listKeys(db, selection, { after: start, until: undefined }, wanted), stoppedAt: undefined }
  }
  const deadline = performance.now() + MAX_MS
  const keys: CallKey[] = []
  let looked = 0
  for await (const range of rangesOf(db, selection, start, index => sizeOf(selection, index, MAX_CALLS - looked))) {
    const left = wanted - keys.length
    const found = q === undefined ? await listKeys(db, selection, range, left) : await findText(db, selection, range, q)
    keys.push(...found.slice(0, left))
    looked += range.rows
    if (keys.length === wanted) break
    if (looked >= MAX_CALLS || performance.now() > deadline || signal?.aborted === true) {
      return { keys, stoppedAt: range.until }
    }
    await setImmediate()
  }
  return { keys, stoppedAt: undefined }
}
