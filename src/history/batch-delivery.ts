import { extname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import type { DatabaseTarget } from '../lib/db/target.ts'
import { type ExecutionRow, POSITION } from './execution-row.ts'
import {
  type MissingReason,
  READY,
  type RecordingBatch,
  type TaskOutcome,
  type WorkerRequest,
  type WriteOutcome,
} from './recording-batch.ts'
import type { HistoryTask } from './upkeep/history-tasks.ts'

/** The worker file, which is TypeScript or compiled like this file. */
const WORKER_FILE = new URL(`./recorder.worker${extname(import.meta.url)}`, import.meta.url)
/** Time limit for the worker to close its connection. */
const CLOSE_TIMEOUT_MS = 1_000
/** Young-generation heap limit in MB; batches are short-lived. */
const YOUNG_MB = 12

/**
 * The pause between attempts doubles from the first value to the last, so a recovered database is noticed within two
 * seconds.
 */
const FIRST_RETRY_MS = 50
const LAST_RETRY_MS = 2_000
/** Number of worker crashes after which the batch is considered the cause and is dropped. */
const MAX_CRASHES_PER_BATCH = 2

export type StartWorker = (file: URL, options: WorkerOptions) => Worker

type Log = (details: object, message: string) => void
export type RecorderLogger = { info: Log; warn: Log; error: Log }

/** `startedAt` in milliseconds since the epoch. */
export type CountMissing = (serverId: string, startedAt: number, reason: MissingReason) => void

/** The outcome if the worker ended without a response. It is unknown whether the batch was written. */
type Crash = { kind: 'crashed'; message: string }

/**
 * Creates the worker thread that holds the recorder's connection. The thread starts on first use and again after it has
 * ended. It handles one batch at a time, and keeps the process alive until it is closed.
 */
const createWriterThread = (options: { target: DatabaseTarget; startWorker: StartWorker | undefined }) => {
  const startWorker = options.startWorker ?? ((file, workerOptions) => new Worker(file, workerOptions))
  let worker: Worker | undefined
  const ready = Promise.withResolvers<void>()
  let settle: ((outcome: WriteOutcome | Crash) => void) | undefined
  let settleTask: ((outcome: TaskOutcome) => void) | undefined

  const start = (): Worker => {
    const started = startWorker(WORKER_FILE, {
      name: 'patchbay-history',
      workerData: options.target,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    })
    let failure = ''
    started.on('message', (message: WriteOutcome | TaskOutcome | typeof READY) => {
      if (message === READY) ready.resolve()
      else if (message.kind === 'task_done' || message.kind === 'task_failed') settleTask?.(message)
      else settle?.(message)
    })
    started.on('error', error => {
      failure = String(error)
    })
    started.on('exit', code => {
      if (worker === started) worker = undefined
      ready.resolve()
      const message = failure || `it ended with code ${code}`
      settleTask?.({ kind: 'task_failed', message })
      settle?.({ kind: 'crashed', message })
    })
    return started
  }

  const post = (request: WorkerRequest): void => {
    worker ??= start()
    worker.postMessage(request)
  }

  return {
    /** Starts the thread before the first batch, and resolves once it can write. A failure is left to that batch. */
    start: (): Promise<void> => {
      try {
        worker ??= start()
        return ready.promise
      } catch {
        return Promise.resolve()
      }
    },
    write: (batch: RecordingBatch): Promise<WriteOutcome | Crash> =>
      new Promise(resolve => {
        settle = outcome => {
          settle = undefined
          resolve(outcome)
        }
        try {
          post({ kind: 'write', batch })
        } catch (error) {
          // The thread could not be created, because the system is out of memory or threads.
          settle({ kind: 'crashed', message: String(error) })
        }
      }),
    /** Does a batch of a task, between two batches of records. One task at a time. */
    run: (task: HistoryTask): Promise<TaskOutcome> =>
      new Promise(resolve => {
        settleTask = outcome => {
          settleTask = undefined
          resolve(outcome)
        }
        try {
          post({ kind: 'task', task })
        } catch (error) {
          settleTask({ kind: 'task_failed', message: String(error) })
        }
      }),
    /** Terminates the thread at once. A batch in progress counts as crashed. */
    terminate: async (): Promise<void> => {
      await worker?.terminate()
    },
    close: async (): Promise<void> => {
      const closing = worker
      if (closing === undefined) return
      const { promise: exited, resolve } = Promise.withResolvers<void>()
      closing.once('exit', () => resolve())
      const deadline = setTimeout(() => void closing.terminate(), CLOSE_TIMEOUT_MS)
      post({ kind: 'close' })
      await exited
      clearTimeout(deadline)
    },
  }
}

/**
 * Delivers batches to the database one at a time. Retries each batch until it is written or dropped. Logs when writing
 * starts to fail and when it works again, but not each attempt.
 */
export const createBatchDelivery = (options: {
  target: DatabaseTarget
  startWorker: StartWorker | undefined
  logger: RecorderLogger
  countMissing: CountMissing
  /** Called for each failed attempt. */
  onFailure?: ((reason: MissingReason, message: string) => void) | undefined
}) => {
  const { logger, countMissing, onFailure } = options
  const thread = createWriterThread(options)
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
    for (const row of executions) countMissing(row[POSITION.serverId], row[POSITION.startedAt], reason)
  }

  const waitBeforeRetry = async (pauseMs: number): Promise<void> => {
    pause = new AbortController()
    await delay(pauseMs, undefined, { ref: false, signal: pause.signal }).catch(() => undefined)
  }

  return {
    start: thread.start,

    failure: (): MissingReason | undefined => failure,

    /**
     * Delivers a batch. Resolves with the number of records stored, after the others have been counted as missing or
     * dropped.
     */
    deliver: async ({ executions, bodies, gaps, tokens }: RecordingBatch): Promise<number> => {
      let left = executions
      let counts = tokens
      let contents = bodies
      let crashes = 0
      for (let pauseMs = FIRST_RETRY_MS; ; pauseMs = Math.min(pauseMs * 2, LAST_RETRY_MS)) {
        const outcome = await thread.write({ executions: left, bodies: contents, gaps, tokens: counts })
        if (outcome.kind === 'written') return noteWritten(outcome, left.length)
        const reason = noteFailure(outcome)
        if (outcome.kind === 'crashed') crashes++
        if (crashes >= MAX_CRASHES_PER_BATCH) {
          countAllMissing(left, reason)
          left = []
          counts = []
          contents = []
          if (gaps.length === 0) return 0
        }
        if (!isGivenUp) await waitBeforeRetry(pauseMs)
        if (isGivenUp) {
          countAllMissing(left, reason)
          return 0
        }
      }
    },

    run: thread.run,

    /** Ends the pause before the next attempt. */
    hurry: (): void => pause.abort(),

    /** Stops the current attempt and makes no more. Unwritten records count as missing. */
    giveUp: async (): Promise<void> => {
      isGivenUp = true
      pause.abort()
      await thread.terminate()
    },

    close: thread.close,
  }
}

export type BatchDelivery = ReturnType<typeof createBatchDelivery>
