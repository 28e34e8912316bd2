import type { BatchDelivery } from './batch-delivery.ts'
import type { ExecutionTokens } from './execution-record.ts'
import type { MissingRecords } from './missing-records.ts'
import { type GapRow, type TokensRow, toTokensRow } from './recording-batch.ts'
import type { RecordingQueue } from './recording-queue.ts'

/** Interval for writing gaps, long enough that a second of missing records becomes one row per server. */
const GAP_INTERVAL_MS = 1_000

/** Maximum number of token counts held while the database is unavailable. Further counts are dropped. */
const MAX_WAITING_TOKENS = 5_000
/** Maximum number of token counts per batch, because each is a separate update. */
const MAX_BATCH_TOKENS = 256

/** Totals that a flush waits for: released records, reported gaps and written token counts. */
type FlushGoal = { released: number; reported: number; counted: number; resolve: () => void }

/** Returns a function that starts a timer unless it is already running. The timer does not keep the process alive. */
const createDueTimer = (afterMs: number, onDue: () => void): (() => void) => {
  let isArmed = false
  const fire = (): void => {
    isArmed = false
    onDue()
  }
  return () => {
    if (isArmed) return
    isArmed = true
    setTimeout(fire, afterMs).unref()
  }
}

/**
 * Decides when to write: records after `flushIntervalMs` or once a batch is full, and gaps once per second. Writes one
 * batch at a time.
 */
export const createRecordingLoop = (options: {
  queue: RecordingQueue
  missing: MissingRecords
  delivery: BatchDelivery
  flushIntervalMs: number
}) => {
  const { queue, missing, delivery, flushIntervalMs } = options
  let areRecordsDue = false
  let areGapsDue = false
  let sending: Promise<void> | undefined
  let flushes: FlushGoal[] = []
  let stored = 0
  const tokens: TokensRow[] = []
  let countTokens = async (): Promise<void> => {}
  let hasUncounted = false
  let acceptedTokens = 0
  let releasedTokens = 0
  let isStopped = false
  let isEnded = false

  const isReached = ({ released, reported, counted }: Omit<FlushGoal, 'resolve'>): boolean =>
    isEnded ||
    (isStopped && sending === undefined) ||
    (queue.released() >= released && missing.reported() >= reported && releasedTokens >= counted)

  const endFlushes = (): void => {
    for (const goal of flushes) if (isReached(goal)) goal.resolve()
    flushes = flushes.filter(goal => !isReached(goal))
  }

  const takeGaps = (): GapRow[] => {
    if (!areGapsDue) return []
    areGapsDue = false
    return missing.take()
  }

  const takeTokens = async (): Promise<TokensRow[]> => {
    if (hasUncounted) {
      hasUncounted = false
      await countTokens()
    }
    return tokens.splice(0, MAX_BATCH_TOKENS)
  }

  const sendOne = async (): Promise<void> => {
    const executions = queue.take()
    const gaps = takeGaps()
    // Send token counts only when the queue is empty, so that the records they belong to are in this batch or an
    // earlier one.
    const isLast = queue.isEmpty()
    // Later records start a new timer.
    if (isLast) areRecordsDue = false
    const counts = isLast ? await takeTokens() : []
    if (tokens.length > 0) areRecordsDue = true
    stored += await delivery.deliver({ executions, bodies: queue.bodiesOf(executions), gaps, tokens: counts })
    queue.release(executions)
    releasedTokens += counts.length
    if (!isEnded) missing.report(gaps)
    if (!missing.isEmpty()) armGapTimer()
    endFlushes()
  }

  const isWorkDue = (): boolean =>
    !isStopped &&
    (queue.hasFullBatch() ||
      (areRecordsDue && (!queue.isEmpty() || tokens.length > 0 || hasUncounted)) ||
      (areGapsDue && !missing.isEmpty()))

  const sendAll = async (): Promise<void> => {
    do await sendOne()
    while (isWorkDue())
    sending = undefined
  }
  const send = (): void => {
    if (sending === undefined && isWorkDue()) sending = sendAll()
  }

  const armRecordTimer = createDueTimer(flushIntervalMs, () => {
    areRecordsDue = true
    send()
  })
  const armBatchTimer = createDueTimer(0, send)
  const armGapTimer = createDueTimer(GAP_INTERVAL_MS, () => {
    areGapsDue = true
    send()
  })

  return {
    noteRecord: (): void => {
      armRecordTimer()
      if (sending === undefined && queue.hasFullBatch()) armBatchTimer()
    },
    addTokens: (counted: ExecutionTokens): void => {
      if (tokens.length >= MAX_WAITING_TOKENS) return
      acceptedTokens++
      tokens.push(toTokensRow(counted))
      armRecordTimer()
    },
    countBeforeWrite: (count: () => Promise<void>): void => {
      countTokens = count
    },
    noteUncounted: (): void => {
      hasUncounted = true
      armRecordTimer()
    },
    noteMissing: armGapTimer,
    /** Resolves once everything in the queue and all missing records are written, or the loop has ended. */
    flush: async (): Promise<void> => {
      const goal = { released: queue.accepted(), reported: missing.total(), counted: acceptedTokens }
      if (isReached(goal) && !hasUncounted) return
      areRecordsDue = true
      areGapsDue = true
      delivery.hurry()
      send()
      await new Promise<void>(resolve => flushes.push({ ...goal, resolve }))
    },
    /** Starts no more batches. Resolves once the current one is delivered. */
    stop: async (): Promise<void> => {
      isStopped = true
      await sending
      endFlushes()
    },
    /** Stops at once, even if records are waiting. */
    end: async (): Promise<void> => {
      isStopped = true
      isEnded = true
      await delivery.giveUp()
      await sending
      endFlushes()
    },
    stored: (): number => stored,
  }
}
