import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

/** The exit code of a process whose thread has run out of memory. */
export const OUT_OF_MEMORY_EXIT = 70

/** What comes of a job; undefined is an answer too. A failure is for the log. */
export type Told<Answer> = { answer: Answer } | { failure: string }

const YOUNG_MB = 32
const STACK_MB = 4

const isOutOfMemory = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && Reflect.get(error, 'code') === 'ERR_WORKER_OUT_OF_MEMORY'

/** Its kind, and where it happened: what it says may quote what the job held. */
const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return 'what is no error was thrown'
  const places = (error.stack ?? '').split('\n').filter(line => line.startsWith('    at '))
  return [error.name, ...places].join('\n')
}

/** Jobs run in a thread, so that the process hears it at once when nobody is left whom they are for. */
const serveFromThread = (file: string): void => {
  const maxOldGenerationSizeMb = Number(process.argv[2])
  const resourceLimits = { maxOldGenerationSizeMb, maxYoungGenerationSizeMb: YOUNG_MB, stackSizeMb: STACK_MB }
  const thread = new Worker(file, { argv: [], execArgv: [], env: {}, resourceLimits })
  thread.on('error', error => process.exit(isOutOfMemory(error) ? OUT_OF_MEMORY_EXIT : 1))
  thread.on('message', told => process.send?.(told))
  process.on('message', job => thread.postMessage(job))
  // Not by `exit`, which waits for the thread.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
}

/** Runs jobs in the process of `createJobProcess`, whose module calls this; says first that it is there. `url`: of that module. */
export const serveJobs = async <Job, Answer>(
  url: string,
  loadRun: () => Promise<(job: Job) => Promise<Answer>>,
): Promise<void> => {
  if (isMainThread) {
    serveFromThread(fileURLToPath(url))
    return
  }
  const run = await loadRun()
  const tell = (told: Told<Answer | undefined>): void => parentPort?.postMessage(told)
  parentPort?.on('message', (job: Job) =>
    run(job).then(
      answer => tell({ answer }),
      (error: unknown) => tell({ failure: describe(error) }),
    ),
  )
  tell({ answer: undefined })
}
