import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

/** The exit code of a process whose thread has run out of memory. */
export const OUT_OF_MEMORY_EXIT = 70

const YOUNG_MB = 32
const STACK_MB = 4

const isOutOfMemory = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && Reflect.get(error, 'code') === 'ERR_WORKER_OUT_OF_MEMORY'

/** Jobs run in a thread, so that the process hears it at once when nobody is left whom they are for. */
const serveFromThread = (file: string): void => {
  const maxOldGenerationSizeMb = Number(process.argv[2])
  const resourceLimits = { maxOldGenerationSizeMb, maxYoungGenerationSizeMb: YOUNG_MB, stackSizeMb: STACK_MB }
  const thread = new Worker(file, { argv: [], execArgv: [], env: {}, resourceLimits })
  thread.on('error', error => process.exit(isOutOfMemory(error) ? OUT_OF_MEMORY_EXIT : 1))
  // Undefined is an answer too, and none that goes from one process to the other by itself.
  thread.on('message', answer => process.send?.({ answer }))
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
  parentPort?.on('message', async (job: Job) => parentPort?.postMessage(await run(job)))
  parentPort?.postMessage(undefined)
}
