import type { DatabaseTarget } from '../lib/db/target.ts'
import { createBatchDelivery, type RecorderLogger } from './batch-delivery.ts'
import type { Recorder } from './execution-record.ts'
import { createMissingLedger } from './missing-ledger.ts'
import { createRecordingLoop } from './recording-loop.ts'
import { createRecordingQueue } from './recording-queue.ts'
import { createWriterThread, type StartWorker } from './writer-thread.ts'

/** From the first waiting record to its batch: leaves most of the 250 ms that a kill may cost to the write itself. */
const FLUSH_INTERVAL_MS = 100
/** Records held while the database takes none: ten seconds of calls at full rate. */
const MAX_QUEUED_RECORDS = 50_000
/** The same in memory, roughly: the bodies of requests can be large. */
const MAX_QUEUED_BYTES = 64 * 1_024 * 1_024
/** How long a stop waits for what is queued. */
const CLOSE_TIMEOUT_MS = 5_000

export type RecorderOptions = {
  target: DatabaseTarget
  logger: RecorderLogger
  /** Records held at most, waiting and under way. */
  maxQueued?: number
  maxQueuedBytes?: number
  /** How long a record may wait for others to share its batch. */
  flushIntervalMs?: number
  closeTimeoutMs?: number
  /** Makes the worker thread: a test keeps hold of it to end it. */
  startWorker?: StartWorker
}

/**
 * Keeps execution records. Batches go to a worker thread with a connection of its own, one at a time, each tried again
 * until it is written. Over the queue's bounds records are counted as missing, and gap rows say so once rows can be
 * written at all.
 */
export const createRecorder = (options: RecorderOptions): Recorder => {
  const { target, logger, startWorker, flushIntervalMs = FLUSH_INTERVAL_MS } = options
  const thread = createWriterThread({ target, startWorker })
  const queue = createRecordingQueue({
    maxRecords: options.maxQueued ?? MAX_QUEUED_RECORDS,
    maxBytes: options.maxQueuedBytes ?? MAX_QUEUED_BYTES,
  })
  const ledger = createMissingLedger()
  const delivery = createBatchDelivery({ thread, logger, countMissing: ledger.count })
  const loop = createRecordingLoop({ queue, ledger, delivery, flushIntervalMs })
  let closing: Promise<void> | undefined
  /** Neither stored nor in a gap row: what a close could not write, and what came after it. */
  let lost = 0

  const finish = async (): Promise<void> => {
    const deadline = setTimeout(() => void loop.end(), options.closeTimeoutMs ?? CLOSE_TIMEOUT_MS)
    // Twice: what the database refuses of the rest makes a gap of its own.
    await loop.flush()
    await loop.flush()
    clearTimeout(deadline)
    lost += queue.drop()
    const unreported = lost + ledger.total() - ledger.reported()
    if (unreported > 0) {
      logger.error({ missing: unreported }, 'Execution records could not be written before the stop and are lost')
    }
    await thread.close()
  }

  return {
    start: thread.start,
    record: execution => {
      if (closing !== undefined) {
        lost++
      } else if (queue.push(execution)) {
        if (queue.accepted() === 1) thread.start()
        loop.noteRecord()
      } else {
        const reason = delivery.failure() ?? 'the queue was full'
        ledger.count(execution.serverId, execution.startedAt.getTime(), reason)
        loop.noteMissing()
      }
    },
    recordTokens: tokens => {
      if (closing === undefined) loop.addTokens(tokens)
    },
    flush: loop.flush,
    close: () => {
      closing ??= finish()
      return closing
    },
    stats: () => ({
      queued: queue.accepted() - queue.released(),
      missing: ledger.total() + lost,
      stored: loop.stored(),
    }),
  }
}
