import { MessageChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { failure, type Result, success } from '../kernel/result.ts'
import type { SentJob } from './thread-jobs.ts'
import { createTurns, NoTurn, type TurnLimits } from './turns.ts'

/** How long a thread that has nothing to do is kept. */
const IDLE_MS = 30_000
/** From a job being given until a thread begins with it: on a busy machine threads take their time to start. */
const START_LIMIT_MS = 20_000
/** Of the memory that is young: beside the limit of what is old. */
const YOUNG_MB = 32
const STACK_MB = 4
/** Calls are urgent, and what runs in threads is not: where the system knows priorities, it has less. */
const NICENESS = 5

export type ThreadsOptions = Omit<TurnLimits, 'maxAtOnce'> & {
  /** Of `findWorker`. */
  worker: string
  maxThreads: number
  /** Of one job, from when its thread begins with it. */
  timeLimitMs: number
  /** Until then, its turn included. */
  startLimitMs?: number
  /** Of one thread. */
  memoryLimitMb: number
  youngMemoryMb?: number
  idleMs?: number | undefined
}

/**
 * Why a job has no answer: too many wait, nobody wants it any more, no thread began with it in time, it took too long or
 * too much memory, or all of it is closed.
 */
export type JobEnding = 'refused' | 'aborted' | 'not_begun' | 'time' | 'memory' | 'closed'

type Balance = NonNullable<NonNullable<ConstructorParameters<typeof Piscina>[0]>['loadBalancer']>
type Preference = { thread: number | undefined }

const isPreference = (value: unknown): value is Preference =>
  typeof value === 'object' && value !== null && 'thread' in value

/** The thread that a job would have if it is free, else any that is. */
const balance: Balance = (task, threads) => {
  const preference: unknown = Reflect.get(task, Piscina.queueOptionsSymbol)
  const free = threads.filter(thread => thread.currentUsage === 0 && !thread.terminating && !thread.destroyed)
  const preferred = isPreference(preference) ? free.find(thread => thread.id === preference.thread) : undefined
  return preferred ?? free[0] ?? null
}

const isOutOfMemory = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && Reflect.get(error, 'code') === 'ERR_WORKER_OUT_OF_MEMORY'

/** Ends a job that does not begin in time, takes too long once it has begun, or that nobody wants any more. */
const startClock = (limits: { startLimitMs: number; timeLimitMs: number }, signal: AbortSignal | undefined) => {
  const end = new AbortController()
  const clock = { signal: end.signal, hasBegun: false, isLate: false }
  const abort = (): void => end.abort()
  const expire = (): void => {
    clock.isLate = true
    abort()
  }
  let timer = setTimeout(expire, limits.startLimitMs)
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted === true) abort()
  return Object.assign(clock, {
    begin: (): void => {
      clock.hasBegun = true
      clearTimeout(timer)
      timer = setTimeout(expire, limits.timeLimitMs)
    },
    stop: (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    },
  })
}
type Clock = ReturnType<typeof startClock>

/**
 * Threads that run one module, off the event loop: none before the first job, and none that has long nothing to do. Their
 * owners take turns, so that none of them waits for all that another one has brought; a job that takes too much is ended
 * with its thread.
 */
export const createThreads = <Job, Answer>(options: ThreadsOptions) => {
  const { timeLimitMs, startLimitMs = START_LIMIT_MS } = options
  const turns = createTurns({ ...options, maxAtOnce: options.maxThreads })
  let pool: Piscina<SentJob<Job>, Answer> | undefined
  let isClosed = false

  const open = (): Piscina<SentJob<Job>, Answer> => {
    const opened = new Piscina<SentJob<Job>, Answer>({
      filename: options.worker,
      minThreads: 0,
      maxThreads: options.maxThreads,
      idleTimeout: options.idleMs ?? IDLE_MS,
      niceIncrement: NICENESS,
      loadBalancer: balance,
      // A thread that sleeps between jobs without its event loop would not notice that it is to go.
      atomics: 'disabled',
      resourceLimits: {
        maxOldGenerationSizeMb: options.memoryLimitMb,
        maxYoungGenerationSizeMb: options.youngMemoryMb ?? YOUNG_MB,
        stackSizeMb: STACK_MB,
      },
      env: {},
      argv: [],
      execArgv: [],
    })
    // What a thread says that was ended already, such as that it had no memory left: its job has been answered.
    opened.on('error', () => undefined)
    return opened
  }

  const send = async (owner: string, make: () => Job, thread: number | undefined, clock: Clock): Promise<Answer> => {
    if (isClosed) throw new NoTurn()
    pool ??= open()
    const { port1, port2 } = new MessageChannel()
    port1.once('message', clock.begin)
    const sent = Object.assign({ job: make(), began: port2 }, { [Piscina.queueOptionsSymbol]: { thread } })
    try {
      return await pool.run(sent, { signal: clock.signal, transferList: [port2] })
    } catch (error) {
      if (clock.hasBegun && (clock.isLate || isOutOfMemory(error))) turns.suspect(owner)
      throw error
    } finally {
      port1.close()
    }
  }

  const endingOf = (error: unknown, { hasBegun, isLate }: Clock, isAborted: boolean): JobEnding | undefined => {
    if (isAborted) return 'aborted'
    if (isOutOfMemory(error)) return 'memory'
    if (isClosed) return 'closed'
    if (isLate) return hasBegun ? 'time' : 'not_begun'
    return error instanceof NoTurn ? 'refused' : undefined
  }

  return {
    /**
     * `make`: the job, asked for when it is its turn. `prefer`: the thread that would be fastest. `group`: of owners that
     * have turns together, such as an organization's servers. Rejects for what should not happen alone.
     */
    run: async (
      owner: string,
      make: () => Job,
      { signal, prefer, group }: { signal?: AbortSignal | undefined; prefer?: number | undefined; group?: string } = {},
    ): Promise<Result<Answer, JobEnding>> => {
      const clock = startClock({ startLimitMs, timeLimitMs }, signal)
      try {
        return success(await turns.take(owner, () => send(owner, make, prefer, clock), clock.signal, group))
      } catch (error) {
        const ending = endingOf(error, clock, signal?.aborted === true)
        if (ending === undefined) throw error
        return failure(ending)
      } finally {
        clock.stop()
      }
    },
    /** Ends the threads, and with them the jobs under way. */
    close: async (): Promise<void> => {
      isClosed = true
      await pool?.destroy()
    },
  }
}
