import { setTimeout as delay } from 'node:timers/promises'
import type { ExecutionRow } from './execution-row.ts'
import type { MissingReason, RecordingBatch, WriteOutcome } from './recording-batch.ts'
import type { Crash, WriterThread } from './writer-thread.ts'

/**
 * The pause between attempts doubles from the first value to the last, so a recovered database is noticed within two
 * seconds.
 */
const FIRST_RETRY_MS = 50
const LAST_RETRY_MS = 2_000
/** Number of worker crashes after which the batch is considered the cause and is dropped. */
const MAX_CRASHES_PER_BATCH = 2

type Log = (details: object, message: string) => void
export type RecorderLogger = { info: Log; warn: Log; error: Log }

/** `startedAt` in milliseconds since the epoch. */
export type CountMissing = (serverId: string, startedAt: number, reason: MissingReason) => void

/**
 * Delivers batches to the database one at a time. Retries each batch until it is written or dropped. Logs when writing
 * starts to fail and when it works again, but not each attempt.
 */
export const createBatchDelivery = (options: {
  thread: WriterThread
  logger: RecorderLogger
  countMissing: CountMissing
  /** Called for each failed attempt. */
  onFailure?: ((reason: MissingReason, message: string) => void) | undefined
}) => {
  const { thread, logger, countMissing, onFailure } = options
  let failure: MissingReason | undefined
  let pause = new AbortController()
  let isGivenUp = false

  const noteFailure = (outcome: Exclude<WriteOutcome, { kind: 'written' }> | Crash): MissingReason => {
    const reason = outcome.kind === 'failed' ? outcome.reason : 'the recorder stopped'
    if (failure !== reason) {
      logger.warn({ reason, error: outcome.message }, 'Cannot write execution records; retrying')
    }
    failure = reason
    onFailure?.(reason, outcome.message)
    return reason
  }

  /** Returns how many records were stored. */
  const noteWritten = ({ dropped, refused }: Extract<WriteOutcome, { kind: 'written' }>, sent: number): number => {
    if (failure !== undefined) logger.info({ after: failure }, 'Execution records can be written again')
    failure = undefined
    for (const { serverId, startedAt, message } of refused) {
      logger.error({ serverId, error: message }, 'The database rejected an execution record')
      countMissing(serverId, startedAt, 'the database refused the record')
    }
    return sent - dropped - refused.length
  }

  const countAllMissing = (executions: readonly ExecutionRow[], reason: MissingReason): void => {
    for (const [, serverId, , , , , startedAt] of executions) countMissing(serverId, startedAt, reason)
  }

  const waitBeforeRetry = async (pauseMs: number): Promise<void> => {
    pause = new AbortController()
    await delay(pauseMs, undefined, { ref: false, signal: pause.signal }).catch(() => undefined)
  }

  return {
    failure: (): MissingReason | undefined => failure,

    /**
     * Delivers a batch. Resolves with the number of records stored, after the others have been counted as missing or
     * dropped.
     */
    deliver: async ({ executions, gaps, tokens }: RecordingBatch): Promise<number> => {
      let left = executions
      let counts = tokens
      let crashes = 0
      for (let pauseMs = FIRST_RETRY_MS; ; pauseMs = Math.min(pauseMs * 2, LAST_RETRY_MS)) {
        const outcome = await thread.write({ executions: left, gaps, tokens: counts })
        if (outcome.kind === 'written') return noteWritten(outcome, left.length)
        const reason = noteFailure(outcome)
        if (outcome.kind === 'crashed') crashes++
        if (crashes >= MAX_CRASHES_PER_BATCH) {
          countAllMissing(left, reason)
          left = []
          counts = []
          if (gaps.length === 0) return 0
        }
        if (!isGivenUp) await waitBeforeRetry(pauseMs)
        if (isGivenUp) {
          countAllMissing(left, reason)
          return 0
        }
      }
    },

    /** Ends the pause before the next attempt. */
    hurry: (): void => pause.abort(),

    /** Stops the current attempt and makes no more. Unwritten records count as missing. */
    giveUp: async (): Promise<void> => {
      isGivenUp = true
      pause.abort()
      await thread.terminate()
    },
  }
}

export type BatchDelivery = ReturnType<typeof createBatchDelivery>
