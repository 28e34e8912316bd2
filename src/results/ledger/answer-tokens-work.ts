import { TABLES_IDLE_MS } from '../../lib/tokens/tokens.ts'
import { findWorker } from '../../lib/worker/find-worker.ts'
import { createThreads } from '../../lib/worker/threads.ts'
import type { AnswerTokens, AnswerTokensJob } from './answer-tokens-job.ts'

/** A job says itself when it is over; one that lasts this long never is. */
const TIME_LIMIT_MS = 60_000
/** Memory of the thread, in MB: the tables of the encoding take 40, what is remembered of texts 2. */
const MEMORY_LIMIT_MB = 256
/** Of the memory that is young: a text is counted in pieces, and nothing of them stays. */
const YOUNG_MB = 12
/** There is one owner, who asks for one job at a time. */
const OWNER = 'ledger'

/** Counts what answers cost a model, in a thread of its own that is there while there is something to count. */
export const createAnswerTokensWork = () => {
  const threads = createThreads<AnswerTokensJob, AnswerTokens>({
    worker: findWorker('./answer-tokens.worker', import.meta.url),
    maxThreads: 1,
    maxOfOwner: 1,
    maxWaiting: 1,
    maxWaitingOfOwner: 1,
    timeLimitMs: TIME_LIMIT_MS,
    memoryLimitMb: MEMORY_LIMIT_MB,
    youngMemoryMb: YOUNG_MB,
    idleMs: TABLES_IDLE_MS,
  })
  return {
    /** Undefined where it could not be done; rejects for what should never happen. */
    count: async (job: AnswerTokensJob): Promise<AnswerTokens | undefined> => {
      const counted = await threads.run(OWNER, () => job)
      return counted.ok ? counted.value : undefined
    },
    close: threads.close,
  }
}

export type AnswerTokensWork = ReturnType<typeof createAnswerTokensWork>
