import { type ChildProcess, fork } from 'node:child_process'
import { resourceLimits } from 'node:worker_threads'
import { OUT_OF_MEMORY_EXIT, type Told } from './process-jobs.ts'

/** What it may do besides computing: read files, for its modules, and have a thread. It writes and starts nothing. */
const PERMISSIONS = ['--permission', '--allow-fs-read=*', '--allow-worker', '--disable-warning=SecurityWarning']

const DEFAULT_MEMORY_MB = 256

const start = (file: string): ChildProcess =>
  fork(file, [String(resourceLimits.maxOldGenerationSizeMb ?? DEFAULT_MEMORY_MB)], {
    env: {},
    execArgv: PERMISSIONS,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })

/** As the pool of threads knows it of a thread of its own. No error: those lose their code on the way between threads. */
const OUT_OF_MEMORY = { code: 'ERR_WORKER_OUT_OF_MEMORY' }

/** A process that a signal ended did so itself, V8 having no way out, or the system did, for its memory. */
const explainEnd = (code: number | null, signal: string | null): unknown =>
  signal !== null || code === OUT_OF_MEMORY_EXIT
    ? OUT_OF_MEMORY
    : new Error(`a process that runs jobs ended by itself, with the code ${code}`)

/**
 * Does the jobs of a thread in a process of the thread's own, one at a time; it ends with the thread. For what strangers
 * have written: a thread that runs out of memory inside of V8, as by one long text or list, ends its whole process, which
 * is not ours then. `file`: a module that calls `serveJobs`.
 */
export const createJobProcess = <Job extends object, Answer>(file: string) => {
  let child: ChildProcess | undefined
  let waiting: PromiseWithResolvers<Answer> | undefined

  const hear = (): Promise<Answer> => {
    waiting = Promise.withResolvers()
    return waiting.promise
  }

  const open = (): ChildProcess => {
    const opened = start(file)
    opened.on('message', (told: Told<Answer>) => {
      if ('answer' in told) waiting?.resolve(told.answer)
      else waiting?.reject(new Error(told.failure))
    })
    opened.on('error', error => waiting?.reject(error))
    opened.on('exit', (code, signal) => {
      if (child === opened) child = undefined
      waiting?.reject(explainEnd(code, signal))
    })
    return opened
  }

  return {
    /** Resolves when it can begin with a job at once. */
    prepare: async (): Promise<void> => {
      if (child !== undefined) return
      child = open()
      // The first it says is that it is there.
      await hear()
    },
    run: (job: Job): Promise<Answer> => {
      const answer = hear()
      // What cannot be sent any more is told by its end.
      child?.send(job, () => undefined)
      return answer
    },
  }
}
