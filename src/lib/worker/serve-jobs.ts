import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import {
  createIsolatedProcess,
  type IsolatedProcess,
  OUT_OF_MEMORY_EXIT,
  type ProcessMessage,
  type ProcessRequest,
} from './isolated-process.ts'
import type { JobReply, JobRequest, JobTable, SendPart } from './job.ts'
import { createPartSender, createPortSender } from './parts.ts'

/** Maximum size of the young generation, in all and as a share of the heap limit, which does not include it. */
const YOUNG_MB = 32
const YOUNG_SHARE = 1 / 4
const STACK_MB = 4

/** Returns thread options with this heap limit and without environment variables or arguments. */
export const confineThread = (heapLimitMb: number) => ({
  argv: [],
  execArgv: [],
  env: {},
  resourceLimits: {
    maxOldGenerationSizeMb: heapLimitMb,
    maxYoungGenerationSizeMb: Math.min(YOUNG_MB, heapLimitMb * YOUNG_SHARE),
    stackSizeMb: STACK_MB,
  },
})

/** The `workerData` of the thread in an isolated process. */
const ISOLATED = 'isolated'

export const isOutOfMemory = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && Reflect.get(error, 'code') === 'ERR_WORKER_OUT_OF_MEMORY'

/** Returns the name and stack of an error, but not its message, which may quote the input. */
const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return 'something other than an Error was thrown'
  const frames = (error.stack ?? '').split('\n').filter(line => line.startsWith('    at '))
  return [error.name, ...frames].join('\n')
}

type JobFunction = (input: never, sendPart: SendPart) => unknown

const loadFunction = (jobs: JobTable, name: string): Promise<JobFunction> => {
  const job = jobs[name]
  if (job === undefined) throw new Error(`there is no job ${name}`)
  return job.load()
}

/** Runs the jobs in a thread, so that the process notices immediately when the pool thread that started it has ended. */
const superviseThread = (file: string): void => {
  const [, , heapLimitMb] = process.argv
  const thread = new Worker(file, { ...confineThread(Number(heapLimitMb)), workerData: ISOLATED })
  thread.on('error', error => process.exit(isOutOfMemory(error) ? OUT_OF_MEMORY_EXIT : 1))
  thread.on('message', message => process.send?.(message))
  process.on('message', message => thread.postMessage(message))
  // `process.exit` would wait for the thread.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
}

const serveProcess = (jobs: JobTable): void => {
  const loaded = new Map<string, JobFunction>()
  const send = (message: ProcessMessage): void => parentPort?.postMessage(message)
  /** Of the job that runs. */
  let sender = createPartSender(() => undefined)
  const respond = async (request: Exclude<ProcessRequest, { handled: true }>): Promise<ProcessMessage> => {
    if ('load' in request) {
      loaded.set(request.load, await loadFunction(jobs, request.load))
      return { ready: true }
    }
    sender = createPartSender(part => send({ part }))
    const output = await loaded.get(request.name)?.(request.input, sender.sendPart)
    await sender.settled()
    return { output }
  }
  parentPort?.on('message', async (request: ProcessRequest) => {
    if ('handled' in request) return sender.acknowledge()
    try {
      send(await respond(request))
    } catch (error) {
      send({ failure: describe(error) })
    }
  })
}

type Request = JobRequest & { input: never }

const createThreadJob = (jobs: JobTable, name: string) => {
  const loaded = loadFunction(jobs, name)
  return async ({ input, parts }: Request): Promise<JobReply> => {
    const { sendPart, settled } = createPortSender(parts)
    const output = await (await loaded)(input, sendPart)
    await settled()
    return { output }
  }
}

const createRunner = (file: string, jobs: JobTable) => {
  const known = new Map<string, (request: Request) => Promise<JobReply>>()
  /** The process for all jobs. It is replaced for a job with another heap limit, so that each thread has only one. */
  let shared: { heapLimitMb: number; process: IsolatedProcess } | undefined

  const endProcess = (): void => {
    shared?.process.end()
    shared = undefined
  }
  const processFor = (heapLimitMb: number): IsolatedProcess => {
    if (shared?.heapLimitMb === heapLimitMb) return shared.process
    endProcess()
    shared = { heapLimitMb, process: createIsolatedProcess(file, heapLimitMb) }
    return shared.process
  }

  return async (request: Request): Promise<JobReply> => {
    const { name, ownProcess } = request
    if (ownProcess !== undefined) {
      return processFor(ownProcess.heapLimitMb)
        .run(request)
        .finally(ownProcess.isKept ? undefined : endProcess)
    }
    const run = known.get(name) ?? createThreadJob(jobs, name)
    known.set(name, run)
    return run(request)
  }
}

/**
 * Serves the jobs of a table. The pool's worker file runs in three places: in a pool thread, which uses the returned
 * function, in the isolated process of that thread, and in the thread of that process. `url` is the URL of the worker file.
 */
export const serveJobs = (url: string, jobs: JobTable) => {
  const file = fileURLToPath(url)
  if (isMainThread) superviseThread(file)
  else if (workerData === ISOLATED) serveProcess(jobs)
  return createRunner(file, jobs)
}
