import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MessageChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { LANGUAGE_NAMES } from './answer-shaping.ts'
import type { ShapingJob, ShapingOutcome } from './shaping-job.ts'
import { createTurns, NoTurn } from './turns.ts'

/** The source under Node's type stripping, its compiled form in dist: whichever this file is. */
const WORKER_FILE = fileURLToPath(new URL(`./shaping.worker${extname(import.meta.url)}`, import.meta.url))

/** What the shaping of one answer may take: an answer of 10 MB and a sensible expression need less than half of it. */
const TIME_LIMIT_MS = 5_000
/** From the thread being asked until it begins: on a busy machine it takes its time to start. */
const START_LIMIT_MS = 20_000
/** Memory of one thread, in MB: a few times what an answer of 10 MB takes as JSON. */
const MEMORY_LIMIT_MB = 256
/** More of them than one: an endless transform must not be all that runs. */
const MIN_THREADS_AT_ONCE = 4
/** How long a thread that has nothing to do is kept. */
const IDLE_MS = 30_000
/** Answers are urgent, and threads that never end are not: where the system knows priorities, these have less. */
const NICENESS = 5

export type AnswerShaperOptions = { timeLimitMs?: number; memoryLimitMb?: number }

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined

/**
 * Shapes answers in threads of its own, which hold what strangers have written: one that takes too long or too much is
 * ended, and another takes its place. Started with the first job.
 */
export const createAnswerShaper = ({
  timeLimitMs = TIME_LIMIT_MS,
  memoryLimitMb = MEMORY_LIMIT_MB,
}: AnswerShaperOptions = {}) => {
  const maxThreads = Math.max(MIN_THREADS_AT_ONCE, availableParallelism())
  const turns = createTurns(maxThreads)
  let pool: Piscina<unknown, ShapingOutcome> | undefined
  const open = (): Piscina<unknown, ShapingOutcome> => {
    const opened = new Piscina<unknown, ShapingOutcome>({
      filename: WORKER_FILE,
      minThreads: 0,
      maxThreads,
      idleTimeout: IDLE_MS,
      niceIncrement: NICENESS,
      // A thread that sleeps between jobs without its event loop would not notice that it is to go.
      atomics: 'disabled',
      resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
      env: {},
      argv: [],
      execArgv: [],
    })
    // What a thread says that was ended already, such as that it had no memory left: its job has been answered.
    opened.on('error', () => undefined)
    return opened
  }

  /** What is said of a job that was ended: by the transform's name, where it has one. */
  const explain = ({ shaping: { transform } }: ShapingJob, error: unknown, hasBegun: boolean): string => {
    const what =
      transform === undefined
        ? 'The shaping of answers that this tool asks for'
        : `The transform of this tool (${LANGUAGE_NAMES[transform.language]})`
    if (codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY') {
      return `${what} took more than ${memoryLimitMb} MB of memory and was ended. Its builder has to make it take less.`
    }
    if (!hasBegun) return `${what} could not begin in time: the machine is busy. Try again later.`
    return `${what} took longer than ${timeLimitMs} ms and was ended. Its builder has to make it do less.`
  }

  const run = async (owner: string, job: ShapingJob): Promise<ShapingOutcome> => {
    pool ??= open()
    const end = new AbortController()
    const { port1, port2 } = new MessageChannel()
    let hasBegun = false
    let timer = setTimeout(() => end.abort(), START_LIMIT_MS)
    port1.once('message', () => {
      hasBegun = true
      clearTimeout(timer)
      timer = setTimeout(() => end.abort(), timeLimitMs)
    })
    try {
      return await pool.run({ job, began: port2 }, { signal: end.signal, transferList: [port2] })
    } catch (error) {
      if (!end.signal.aborted && codeOf(error) !== 'ERR_WORKER_OUT_OF_MEMORY') throw error
      if (hasBegun) turns.suspect(owner)
      return { kind: 'failed', message: explain(job, error, hasBegun) }
    } finally {
      clearTimeout(timer)
      port1.close()
    }
  }

  return {
    /** `owner`: whose job it is; of each one runs at a time. Rejects for what should not happen alone. */
    shape: async (owner: string, job: ShapingJob): Promise<ShapingOutcome> => {
      try {
        return await turns.take(owner, () => run(owner, job))
      } catch (error) {
        if (!(error instanceof NoTurn)) throw error
        return { kind: 'failed', message: 'Too many answers of this server wait to be shaped. Try again later.' }
      }
    },
    close: async (): Promise<void> => {
      await pool?.destroy()
    },
  }
}

export type AnswerShaper = ReturnType<typeof createAnswerShaper>
