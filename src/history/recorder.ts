import type { DatabaseTarget } from '../platform/db/index.ts'
import { createBatchDelivery, type RecorderLogger } from './batch-delivery.ts'
import { newExecutionId } from './execution-id.ts'
import type { Recorder } from './execution-record.ts'
import { createMissingLedger } from './missing-ledger.ts'
import { type GapRow, type MissingReason, toExecutionRow } from './recording-batch.ts'
import { createRecordingQueue } from './recording-queue.ts'
import { createWriterThread, type StartWorker } from './writer-thread.ts'

/** From the first waiting record to its batch: leaves most of the 250 ms that a kill may cost to the write itself. */
const FLUSH_INTERVAL_MS = 100
/** Records held while the database takes none: ten seconds of calls at full rate. */
const MAX_QUEUED_RECORDS = 50_000
/** The same in memory, roughly: the bodies of requests can be large. */
const MAX_QUEUED_BYTES = 64 * 1_024 * 1_024
/** A second of missing records becomes one gap row a server, not one a batch. */
const GAP_INTERVAL_MS = 1_000
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

/** What a flush waits for: so many records settled, so many missing ones reported. */
type FlushGoal = { settled: number; reported: number; resolve: () => void }

/** Something asked for now and done later: at most one timer, which keeps no process alive. */
const createDueTimer = (afterMs: number, onDue: () => void) => {
  let isArmed = false
  const fire = (): void => {
    isArmed = false
    onDue()
  }
  return {
    arm: (): void => {
      if (isArmed) return
      isArmed = true
      setTimeout(fire, afterMs).unref()
    },
  }
}

/**
 * Keeps execution records. Batches go to a worker thread with a connection of its own, one at a time, each tried again
 * until it is written. Over the queue's bounds records are counted as missing, and gap rows say so once rows can be
 * written at all.
 */
export const createRecorder = (options: RecorderOptions): Recorder => {
  const { logger } = options
  const thread = createWriterThread({ target: options.target, startWorker: options.startWorker })
  const queue = createRecordingQueue({
    maxRecords: options.maxQueued ?? MAX_QUEUED_RECORDS,
    maxBytes: options.maxQueuedBytes ?? MAX_QUEUED_BYTES,
  })
  const ledger = createMissingLedger({ newId: newExecutionId })

  /** `reported` is how many of the missing stand in gap rows; `late` ones came after the close, where none can. */
  const totals = { accepted: 0, settled: 0, stored: 0, missing: 0, reported: 0, late: 0 }
  let flushes: FlushGoal[] = []
  let areRecordsDue = false
  let areGapsDue = false
  let sending: Promise<void> | undefined
  let isGivenUp = false
  let closing: Promise<void> | undefined

  const countMissing = (serverId: string, startedAt: number, reason: MissingReason): void => {
    totals.missing++
    ledger.count(serverId, startedAt, reason)
    gapTimer.arm()
  }
  const delivery = createBatchDelivery({ thread, logger, countMissing })

  const isReached = ({ settled, reported }: Omit<FlushGoal, 'resolve'>): boolean =>
    isGivenUp || (totals.settled >= settled && totals.reported >= reported)

  const endFlushes = (): void => {
    for (const goal of flushes) if (isReached(goal)) goal.resolve()
    flushes = flushes.filter(goal => !isReached(goal))
  }

  const takeGaps = (): GapRow[] => {
    if (!areGapsDue) return []
    areGapsDue = false
    return ledger.take()
  }

  const sendOne = async (): Promise<void> => {
    const taken = queue.take()
    if (queue.isEmpty()) areRecordsDue = false
    const gaps = takeGaps()
    totals.stored += await delivery.deliver({ executions: taken.records.map(toExecutionRow), gaps })
    queue.release(taken)
    totals.settled += taken.records.length
    for (const [, , missing] of gaps) totals.reported += missing
  }

  const isWorkDue = (): boolean =>
    !isGivenUp && (queue.hasFullBatch() || (areRecordsDue && !queue.isEmpty()) || (areGapsDue && !ledger.isEmpty()))

  const sendAll = async (): Promise<void> => {
    do {
      await sendOne()
      endFlushes()
    } while (isWorkDue())
    sending = undefined
  }
  const send = (): void => {
    if (sending === undefined && isWorkDue()) sending = sendAll()
  }

  const flushTimer = createDueTimer(options.flushIntervalMs ?? FLUSH_INTERVAL_MS, () => {
    areRecordsDue = true
    send()
  })
  const fullBatchTimer = createDueTimer(0, () => send())
  const gapTimer = createDueTimer(GAP_INTERVAL_MS, () => {
    areGapsDue = true
    send()
  })

  const flush = async (): Promise<void> => {
    const goal = { settled: totals.accepted, reported: totals.missing }
    if (isReached(goal)) return
    areRecordsDue = true
    areGapsDue = true
    delivery.hurry()
    send()
    await new Promise<void>(resolve => flushes.push({ ...goal, resolve }))
  }

  const giveUp = async (): Promise<void> => {
    isGivenUp = true
    await delivery.giveUp()
    await sending
    endFlushes()
  }

  const finish = async (): Promise<void> => {
    const deadline = setTimeout(() => void giveUp(), options.closeTimeoutMs ?? CLOSE_TIMEOUT_MS)
    // Twice: what the database refuses of the rest makes a gap of its own.
    await flush()
    await flush()
    clearTimeout(deadline)
    totals.missing += queue.heldRecords()
    totals.settled = totals.accepted
    const unreported = totals.missing - totals.reported
    if (unreported > 0) {
      logger.error({ missing: unreported }, 'Execution records could not be written before the stop and are lost')
    }
    await thread.close()
  }

  return {
    start: thread.start,
    record: execution => {
      if (closing !== undefined) {
        totals.late++
      } else if (!queue.push(execution)) {
        countMissing(execution.serverId, execution.startedAt.getTime(), delivery.failure() ?? 'the queue was full')
      } else {
        if (totals.accepted++ === 0) thread.start()
        if (queue.hasFullBatch() && sending === undefined) fullBatchTimer.arm()
        else flushTimer.arm()
      }
    },
    flush,
    close: () => {
      closing ??= finish()
      return closing
    },
    stats: () => ({
      queued: totals.accepted - totals.settled,
      missing: totals.missing + totals.late,
      stored: totals.stored,
    }),
  }
}
