import { extname } from 'node:path'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import type { DatabaseTarget } from '../lib/db/target.ts'
import type { RecordingBatch, WorkerRequest, WriteOutcome } from './recording-batch.ts'

/** The source under Node's type stripping, its compiled form in dist: whichever this file is. */
const WORKER_FILE = new URL(`./recorder.worker${extname(import.meta.url)}`, import.meta.url)
/** How long a worker may take to close its connection before it is ended. */
const CLOSE_TIMEOUT_MS = 1_000
/** Memory for what is young, in MB: a batch is written and forgotten. */
const YOUNG_MB = 12

export type StartWorker = (file: URL, options: WorkerOptions) => Worker

/** The worker ended before it answered; what became of the batch is not known. */
export type Crash = { kind: 'crashed'; message: string }

/**
 * The worker thread that owns the recorder's connection, started on first use and again after it ended.
 * One batch is under way at a time. The thread keeps no process alive.
 */
export const createWriterThread = (options: { target: DatabaseTarget; startWorker: StartWorker | undefined }) => {
  const startWorker = options.startWorker ?? ((file, workerOptions) => new Worker(file, workerOptions))
  let worker: Worker | undefined
  let answer: ((outcome: WriteOutcome | Crash) => void) | undefined

  const start = (): Worker => {
    const started = startWorker(WORKER_FILE, {
      name: 'patchbay-history',
      workerData: options.target,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    })
    let failure = ''
    started.unref()
    started.on('message', (outcome: WriteOutcome) => answer?.(outcome))
    started.on('error', error => {
      failure = String(error)
    })
    started.on('exit', code => {
      if (worker === started) worker = undefined
      answer?.({ kind: 'crashed', message: failure || `it ended with code ${code}` })
    })
    return started
  }

  const post = (request: WorkerRequest): void => {
    worker ??= start()
    worker.postMessage(request)
  }

  return {
    /** Starts it ahead of the first batch. Where no thread can be made, that batch will hear of it. */
    start: (): void => {
      try {
        worker ??= start()
      } catch {}
    },
    write: (batch: RecordingBatch): Promise<WriteOutcome | Crash> =>
      new Promise(resolve => {
        answer = outcome => {
          answer = undefined
          resolve(outcome)
        }
        try {
          post({ kind: 'write', batch })
        } catch (error) {
          // No thread could be made: out of memory, or of threads.
          answer({ kind: 'crashed', message: String(error) })
        }
      }),
    /** Ends the thread at once: a batch under way is answered as crashed. */
    terminate: async (): Promise<void> => {
      await worker?.terminate()
    },
    /** Lets the worker close its connection. */
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
