import { extname } from 'node:path'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import type { DatabaseTarget } from '../lib/db/target.ts'
import { READY, type RecordingBatch, type WorkerRequest, type WriteOutcome } from './recording-batch.ts'

/** The worker file, which is TypeScript or compiled like this file. */
const WORKER_FILE = new URL(`./recorder.worker${extname(import.meta.url)}`, import.meta.url)
/** Time limit for the worker to close its connection. */
const CLOSE_TIMEOUT_MS = 1_000
/** Young-generation heap limit in MB; batches are short-lived. */
const YOUNG_MB = 12

export type StartWorker = (file: URL, options: WorkerOptions) => Worker

/** The outcome if the worker ended without a response. It is unknown whether the batch was written. */
export type Crash = { kind: 'crashed'; message: string }

/**
 * Creates the worker thread that holds the recorder's connection. The thread starts on first use and again after it has
 * ended. It handles one batch at a time and does not keep the process alive.
 */
export const createWriterThread = (options: { target: DatabaseTarget; startWorker: StartWorker | undefined }) => {
  const startWorker = options.startWorker ?? ((file, workerOptions) => new Worker(file, workerOptions))
  let worker: Worker | undefined
  const ready = Promise.withResolvers<void>()
  let settle: ((outcome: WriteOutcome | Crash) => void) | undefined

  const start = (): Worker => {
    const started = startWorker(WORKER_FILE, {
      name: 'patchbay-history',
      workerData: options.target,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    })
    let failure = ''
    started.unref()
    started.on('message', (message: WriteOutcome | typeof READY) => {
      if (message === READY) ready.resolve()
      else settle?.(message)
    })
    started.on('error', error => {
      failure = String(error)
    })
    started.on('exit', code => {
      if (worker === started) worker = undefined
      ready.resolve()
      settle?.({ kind: 'crashed', message: failure || `it ended with code ${code}` })
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

export type WriterThread = ReturnType<typeof createWriterThread>
