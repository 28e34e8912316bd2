import { availableParallelism } from 'node:os'
import { findWorker } from '../../lib/worker/find-worker.ts'
import { createThreads, type JobEnding } from '../../lib/worker/threads.ts'
import { LANGUAGE_NAMES } from '../../tools/response/answer-shaping.ts'
import type { ShapingJob, ShapingOutcome } from './shaping-job.ts'

/** What the shaping of one answer may take: an answer of 10 MB and a sensible expression need less than half of it. */
const TIME_LIMIT_MS = 5_000
/** Memory of one thread, in MB: a few times what an answer of 10 MB takes as JSON. */
const MEMORY_LIMIT_MB = 256
/** More of them than one: an endless transform must not be all that runs. */
const MIN_THREADS_AT_ONCE = 4
/** Answers that wait to be shaped, of all owners and of one; more are refused. */
const MAX_WAITING = 400
const MAX_WAITING_OF_OWNER = 100

export type AnswerShaperOptions = { timeLimitMs?: number; memoryLimitMb?: number }

/**
 * Shapes answers in threads of its own, which hold what strangers have written: one that takes too long or too much is
 * ended, and another takes its place.
 */
export const createAnswerShaper = ({
  timeLimitMs = TIME_LIMIT_MS,
  memoryLimitMb = MEMORY_LIMIT_MB,
}: AnswerShaperOptions = {}) => {
  const threads = createThreads<ShapingJob, ShapingOutcome>({
    worker: findWorker('./shaping.worker', import.meta.url),
    maxThreads: Math.max(MIN_THREADS_AT_ONCE, availableParallelism()),
    maxOfOwner: 1,
    maxWaiting: MAX_WAITING,
    maxWaitingOfOwner: MAX_WAITING_OF_OWNER,
    timeLimitMs,
    memoryLimitMb,
  })

  /** What is said of a job without an answer: by the transform's name, where it has one. */
  const explain = ({ shaping: { transform } }: ShapingJob, ending: JobEnding): string => {
    const what =
      transform === undefined
        ? 'The shaping of answers that this tool asks for'
        : `The transform of this tool (${LANGUAGE_NAMES[transform.language]})`
    switch (ending) {
      case 'refused':
        return 'Too many answers wait to be shaped. Try again later.'
      case 'memory':
        return `${what} took more than ${memoryLimitMb} MB of memory and was ended. Its builder has to make it take less.`
      case 'time':
        return `${what} took longer than ${timeLimitMs} ms and was ended. Its builder has to make it do less.`
      case 'not_begun':
      case 'aborted':
        return `${what} could not begin in time: the machine is busy. Try again later.`
      case 'closed':
        return 'Patchbay is being stopped. Try again later.'
    }
  }

  return {
    /** `owner`: whose job it is; of each one runs at a time. Rejects for what should not happen alone. */
    shape: async (owner: string, job: ShapingJob): Promise<ShapingOutcome> => {
      const shaped = await threads.run(owner, () => job)
      return shaped.ok ? shaped.value : { kind: 'failed', message: explain(job, shaped.error) }
    },
    close: threads.close,
  }
}

export type AnswerShaper = ReturnType<typeof createAnswerShaper>
