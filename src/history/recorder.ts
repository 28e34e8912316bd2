import type { DatabaseTarget } from '../lib/db/target.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import { createBatchDelivery, type RecorderLogger, type StartWorker } from './batch-delivery.ts'
import type { Recorder } from './execution-record.ts'
import { createMissingRecords } from './missing-records.ts'
import type { MissingReason } from './recording-batch.ts'
import { createRecordingLoop } from './recording-loop.ts'
import { createRecordingQueue } from './recording-queue.ts'

/**
 * Maximum time that the first record of a batch waits. If the process is killed, at most the last 250 ms of records may
 * be lost, and most of this time is reserved for the write.
 */
const FLUSH_INTERVAL_MS = 100
/** Maximum number of records held while the database is unavailable: ten seconds of calls at the maximum rate. */
const MAX_QUEUED_RECORDS = 50_000
/** Maximum memory for these records, approximately. Request bodies can be large. */
const MAX_QUEUED_BYTES = 64 * 1_024 * 1_024
/** Time limit for writing queued records on shutdown. */
const CLOSE_TIMEOUT_MS = 5_000

export type RecorderOptions = {
  target: DatabaseTarget
  logger: RecorderLogger
  /** Encrypts the bodies of calls. */
  sealing: Pick<Sealing, 'seal'>
  /** Called whenever writing fails, with the reason and the message of the database. */
  onFailure?: (reason: MissingReason, message: string) => void
  /** Maximum number of records queued or being written. */
  maxQueued?: number
  maxQueuedBytes?: number
  /** How long a record may wait for others to join its batch. */
  flushIntervalMs?: number
  closeTimeoutMs?: number
  /** Creates the worker thread. Tests use this to terminate the worker. */
  startWorker?: StartWorker
}

/**
 * Records executions. A worker thread with its own connection writes them in batches, one at a time, retrying until
 * each is written. If the queue is full, records are counted as missing and reported in gap rows later.
 */
export const createRecorder = (options: RecorderOptions): Recorder => {
  const { target, logger, startWorker, flushIntervalMs = FLUSH_INTERVAL_MS } = options
  const queue = createRecordingQueue({
    maxRecords: options.maxQueued ?? MAX_QUEUED_RECORDS,
    maxBytes: options.maxQueuedBytes ?? MAX_QUEUED_BYTES,
    sealing: options.sealing,
  })
  const missing = createMissingRecords()
  const delivery = createBatchDelivery({
    target,
    startWorker,
    logger,
    countMissing: missing.count,
    onFailure: options.onFailure,
  })
  const loop = createRecordingLoop({ queue, missing, delivery, flushIntervalMs })
  let closing: Promise<void> | undefined
  let isClosed = false
  /** Resolves once the last task is done. */
  let running: Promise<void> = Promise.resolve()
  /** Records that were neither stored nor reported as a gap: those left at close, and later ones. */
  let lost = 0

  const finish = async (): Promise<void> => {
    const deadline = setTimeout(() => void loop.end(), options.closeTimeoutMs ?? CLOSE_TIMEOUT_MS)
    // Flushes twice, because records rejected by the first flush create a gap.
    await loop.flush()
    await loop.flush()
    isClosed = true
    await loop.stop()
    clearTimeout(deadline)
    lost += queue.drop()
    const unreported = lost + missing.total() - missing.reported()
    if (unreported > 0) {
      logger.error(
        { missing: unreported },
        'Execution records were lost because they could not be written before shutdown',
      )
    }
    await delivery.close()
  }

  return {
    start: delivery.start,
    record: execution => {
      if (closing !== undefined) {
        lost++
      } else if (queue.push(execution)) {
        if (queue.accepted() === 1) void delivery.start()
        loop.noteRecord()
      } else {
        const reason = delivery.failure() ?? 'the queue was full'
        missing.count(execution.serverId, execution.startedAt.getTime(), reason)
        loop.noteMissing()
      }
    },
    recordTokens: tokens => {
      if (!isClosed) loop.addTokens(tokens)
    },
    countBeforeWrite: loop.countBeforeWrite,
    noteUncounted: () => {
      if (!isClosed) loop.noteUncounted()
    },
    flush: loop.flush,
    run: async task => {
      const previous = running
      const { promise, resolve } = Promise.withResolvers<void>()
      running = promise
      try {
        await previous
        if (closing !== undefined) throw new Error('the recorder is closed')
        const outcome = await delivery.run(task)
        if (outcome.kind === 'task_failed') throw new Error(`a task on the history failed: ${outcome.message}`)
        return outcome.result
      } finally {
        resolve()
      }
    },
    close: () => {
      closing ??= finish()
      return closing
    },
    stats: () => ({
      queued: queue.accepted() - queue.released(),
      missing: missing.total() + lost,
      stored: loop.stored(),
    }),
  }
}
