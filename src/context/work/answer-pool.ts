import type { MessagePort } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { AnswerJob, AnswerReply } from './answer-job.ts'

/** A job, and where the thread says that it begins with it. */
export type SentJob = { job: AnswerJob; began: MessagePort }

/** Of the memory that is young: beside the limit of what is old. */
const YOUNG_MB = 64
/** Answers are urgent, and looks into them are not: where the system knows priorities, these have less. */
const NICENESS = 5

type Balance = NonNullable<NonNullable<ConstructorParameters<typeof Piscina>[0]>['loadBalancer']>
type Preference = { holder: number | undefined }

const isPreference = (value: unknown): value is Preference =>
  typeof value === 'object' && value !== null && 'holder' in value

/** The thread that holds the answer if it is free, else any that is. */
const balance: Balance = (task, threads) => {
  const preference: unknown = Reflect.get(task, Piscina.queueOptionsSymbol)
  const free = threads.filter(thread => thread.currentUsage === 0 && !thread.terminating && !thread.destroyed)
  const holder = isPreference(preference) ? free.find(thread => thread.id === preference.holder) : undefined
  return holder ?? free[0] ?? null
}

/** Threads for looks into answers: none before the first, and none longer than `idleMs` after its last one. */
export const openAnswerPool = (options: {
  file: string
  maxThreads: number
  idleMs: number
  memoryLimitMb: number
}) => {
  const pool = new Piscina<SentJob, AnswerReply>({
    filename: options.file,
    minThreads: 0,
    maxThreads: options.maxThreads,
    idleTimeout: options.idleMs,
    niceIncrement: NICENESS,
    loadBalancer: balance,
    // A thread that sleeps between jobs without its event loop would not notice that it is to go.
    atomics: 'disabled',
    resourceLimits: {
      maxOldGenerationSizeMb: options.memoryLimitMb,
      maxYoungGenerationSizeMb: YOUNG_MB,
      stackSizeMb: 4,
    },
    env: {},
    argv: [],
    execArgv: [],
  })
  // What a thread says that was ended already, such as that it had no memory left: its job has been answered.
  pool.on('error', () => undefined)
  return {
    /** `holder`: the thread that is likely to hold the answer. Rejects when the thread ended under it. */
    run: (sent: SentJob, holder: number | undefined, signal: AbortSignal): Promise<AnswerReply> =>
      pool.run(Object.assign(sent, { [Piscina.queueOptionsSymbol]: { holder } }), {
        signal,
        transferList: [sent.began],
      }),
    close: (): Promise<void> => pool.destroy(),
  }
}

export type AnswerPool = ReturnType<typeof openAnswerPool>
