import { setTimeout as delay } from 'node:timers/promises'
import type { Recorder } from '../../history/execution-record.ts'

/** How long a request for the history waits for pending records, at most. */
const SETTLE_MS = 1_000

/** Waits, up to the limit, until recent calls have been written to the history. */
export const settle = (recorder: Pick<Recorder, 'flush'>): Promise<void> =>
  Promise.race([recorder.flush(), delay(SETTLE_MS, undefined, { ref: false })])
