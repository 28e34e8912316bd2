import { LRUCache } from 'lru-cache'
import { Piscina } from 'piscina'
import { failure, type Result, success } from '../kernel/result.ts'
import type { StopSignal } from '../kernel/stop-signal.ts'
import type { MemoryBudget } from '../process/memory-budget.ts'
import { createFairQueue, type FindCreator, QueueFullError } from './fair-queue.ts'
import type { Job, JobEnding, JobOptions, JobReply, JobRequest, JobTable, SendPart } from './job.ts'
import { receiveParts } from './parts.ts'
import { confineThread, isOutOfMemory } from './serve-jobs.ts'

const MAX_WAITING = 400
const MAX_WAITING_OF_GROUP = 200
const MAX_WAITING_OF_OWNER = 100
/** How long a job may wait for its turn. */
const START_LIMIT_MS = 20_000
/** Time allowed for a thread and a process to start on a busy machine. */
const STARTUP_MS = 20_000
/** How long an idle thread is kept. The tokenizer's tables take 0.2 s to load and use 40 MB. */
const IDLE_MS = 20_000
/**
 * Niceness of the threads. Their priority is lower than that of the main thread, because calls are urgent. Ignored on
 * systems without priorities.
 */
const NICENESS = 5
/** Maximum affinities for which the last thread is remembered. */
const MAX_AFFINITIES = 1_000

/** The threads, and the heap limits in MiB of each and of its process. A job's own limit applies if it is lower. */
export type PoolMemory = Pick<MemoryBudget, 'maxThreads' | 'threadHeapMb' | 'processHeapMb' | 'keepsProcesses'>

export type WorkerPoolOptions<Jobs extends JobTable> = {
  jobs: Jobs
  /** The module that calls `serveJobs` with the same table. */
  worker: string
  memory: PoolMemory
  idleMs?: number
  /** A creator's groups share the limits of one group. */
  findCreator?: FindCreator
}

type InputOf<One> = One extends { load: () => Promise<(input: infer Input, sendPart: SendPart) => unknown> }
  ? Input
  : never
type OutputOf<One> = One extends { load: () => Promise<(input: never, sendPart: SendPart) => infer Output> }
  ? Awaited<Output>
  : never

type LoadBalancer = NonNullable<NonNullable<ConstructorParameters<typeof Piscina>[0]>['loadBalancer']>

const isStringArray = (value: unknown): value is string[] => Array.isArray(value)

/** Prefers the free thread that last ran a job with one of the task's affinities, trying the affinities in order. */
const createLoadBalancer = (): LoadBalancer => {
  const threads = new LRUCache<string, number>({ max: MAX_AFFINITIES })
  return (task, workers) => {
    const given: unknown = Reflect.get(task, Piscina.queueOptionsSymbol)
    const affinities = isStringArray(given) ? given : []
    const free = workers.filter(worker => worker.currentUsage === 0 && !worker.terminating && !worker.destroyed)
    const preferred = affinities.map(affinity => free.find(({ id }) => id === threads.get(affinity)))
    const chosen = preferred.find(worker => worker !== undefined) ?? free[0] ?? null
    if (chosen !== null) for (const affinity of affinities) threads.set(affinity, chosen.id)
    return chosen
  }
}

const openThreads = (worker: string, { maxThreads, threadHeapMb }: PoolMemory, idleTimeout: number): Piscina => {
  const threads = new Piscina({
    ...confineThread(threadHeapMb),
    filename: worker,
    minThreads: 0,
    maxThreads,
    idleTimeout,
    niceIncrement: NICENESS,
    loadBalancer: createLoadBalancer(),
    // With atomics, a thread that waits for a job does not run its event loop, and so does not notice that it should
    // end.
    atomics: 'disabled',
  })
  // Ignores errors from threads that were ended. Their jobs are already settled.
  threads.on('error', () => undefined)
  return threads
}

/** Aborts when a job's turn does not come in time, when the job takes too long, and when the caller's signal aborts. */
const createDeadline = (signal: StopSignal | undefined) => {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  const expire = (): void => {
    deadline.isOver = true
    abort()
  }
  let timer = setTimeout(expire, START_LIMIT_MS)
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted === true) abort()
  const deadline = {
    signal: controller.signal,
    abort,
    hasStarted: false,
    isOver: false,
    start: (timeLimitMs: number): void => {
      deadline.hasStarted = true
      clearTimeout(timer)
      timer = setTimeout(expire, timeLimitMs)
    },
    clear: (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    },
  }
  return deadline
}

/**
 * Runs named jobs off the event loop: in threads, or each in a process that a thread supervises. Threads start with the
 * first job and end when they are idle. Tenants share them fairly. A job over a limit ends only its own thread or process.
 */
export const createWorkerPool = <Jobs extends JobTable>(options: WorkerPoolOptions<Jobs>) => {
  const { jobs, worker, memory, idleMs = IDLE_MS } = options
  const { maxThreads, threadHeapMb, processHeapMb, keepsProcesses } = memory
  const { findCreator = () => undefined } = options
  const queue = createFairQueue({
    maxRunning: maxThreads,
    maxRunningOfOwner: Math.max(1, maxThreads >> 1),
    maxRunningOfGroup: Math.max(1, maxThreads - 1),
    maxWaiting: MAX_WAITING,
    maxWaitingOfOwner: MAX_WAITING_OF_OWNER,
    maxWaitingOfGroup: MAX_WAITING_OF_GROUP,
  })
  let threads: Piscina | undefined
  let isClosed = false

  const run = async <Output>(
    owner: string,
    request: Omit<JobRequest, 'parts'>,
    { signal, group = owner, affinity, onPart }: JobOptions,
  ): Promise<Result<Output, JobEnding>> => {
    const { name, timeLimitMs, ownProcess } = request
    const creator = await findCreator(group)
    const deadline = createDeadline(signal)
    const parts = onPart && receiveParts(onPart, deadline.abort)
    const send = async (): Promise<JobReply<Output>> => {
      if (isClosed) return { ended: 'closed' }
      threads ??= openThreads(worker, memory, idleMs)
      // The time limit of a process starts when the process is ready. Its pool thread enforces the limit.
      deadline.start(ownProcess === undefined ? timeLimitMs : STARTUP_MS + timeLimitMs)
      const affinities = affinity === undefined ? [name] : [affinity, name]
      const task = { ...request, parts: parts?.port, [Piscina.queueOptionsSymbol]: affinities }
      return threads.run(task, { signal: deadline.signal, ...(parts !== undefined && { transferList: [parts.port] }) })
    }
    const endingOf = (error: unknown): JobEnding | undefined => {
      if (signal?.aborted === true) return 'aborted'
      if (isOutOfMemory(error)) return 'memory'
      if (isClosed) return 'closed'
      if (deadline.isOver) return deadline.hasStarted ? 'time' : 'not_started'
      return error instanceof QueueFullError ? 'queue_full' : undefined
    }
    const runInTurn = async (): Promise<Result<Output, JobEnding>> => {
      try {
        const reply = await queue.run({ owner, group, creator }, send, deadline.signal)
        return 'ended' in reply ? failure(reply.ended) : success(reply.output)
      } catch (error) {
        parts?.rethrow()
        const ending = endingOf(error)
        if (ending === undefined) throw error
        return failure(ending)
      } finally {
        deadline.clear()
        parts?.close()
      }
    }
    const result = await runInTurn()
    if (!result.ok && (result.error === 'time' || result.error === 'memory')) queue.markSlow(creator ?? group)
    return result
  }

  return {
    job: <Name extends keyof Jobs & string>(name: Name): Job<InputOf<Jobs[Name]>, OutputOf<Jobs[Name]>> => {
      const definition = jobs[name]
      if (definition === undefined) throw new Error(`there is no job ${name}`)
      const { timeLimitMs } = definition
      const ownProcess = definition.ownProcess && {
        heapLimitMb: Math.min(definition.ownProcess.heapLimitMb, processHeapMb),
        isKept: keepsProcesses,
      }
      return {
        timeLimitMs,
        heapLimitMb: ownProcess?.heapLimitMb ?? threadHeapMb,
        run: (owner, input, jobOptions = {}) => run(owner, { name, input, timeLimitMs, ownProcess }, jobOptions),
      }
    },
    /** Returns how many jobs run and wait at the moment, and how many may run at once. */
    stats: () => ({ ...queue.counts(), maxRunning: maxThreads }),
    /** Ends the threads and processes, including the jobs in progress. */
    close: async (): Promise<void> => {
      isClosed = true
      await threads?.destroy()
    },
  }
}
