import { availableParallelism } from 'node:os'
import { LRUCache } from 'lru-cache'
import type { AnswerSteps } from '../../lib/json/answer-steps.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { findWorker } from '../../lib/worker/find-worker.ts'
import { createThreads, type JobEnding } from '../../lib/worker/threads.ts'
import type { AnswerJob, AnswerReply, AnswerView } from './answer-job.ts'
import { createByteShares } from './byte-shares.ts'

/** What one look may take: one at 10 MB takes a second or two, ten on a machine that is busy. */
const TIME_LIMIT_MS = 20_000
/**
 * Memory of one thread, in MB: twice what one answer may take parsed, and as much again for what is made of it. A real
 * answer of 10 MB takes a tenth. One that reaches it is ended, with its process where V8 has no other way out.
 */
const MEMORY_LIMIT_MB = 1_024
/** Of the memory that is young: beside the limit of what is old. */
const YOUNG_MB = 64
/** One is always free of whoever has most to look into; more of them at once would take the memory and the cores of calls. */
const MIN_THREADS = 3
const MAX_THREADS = 4
/** Looks that wait, of all servers and of one; more are refused at once. */
const MAX_WAITING = 200
const MAX_WAITING_OF_OWNER = 50
/** Bytes of answers that are being looked into or wait for it, of all servers and of one. */
const MAX_BYTES = 400 * 1_024 * 1_024
const MAX_BYTES_OF_OWNER = 100 * 1_024 * 1_024
/** Answers of which it is known which thread holds them. */
const MAX_KNOWN_ANSWERS = 1_000

export type AnswerWorkOptions = {
  timeLimitMs?: number
  memoryLimitMb?: number
  maxThreads?: number
  idleMs?: number
}

/** One look into an answer. */
export type AnswerLookJob = {
  /** Whose it is, such as the id of a server: they take turns, and none of them has all threads to itself. */
  owner: string
  /** Whose that is, such as an organization: with many servers it has no more turns than one with few. */
  group?: string
  /**
   * The answer in its charset, UTF-8 unless the media type says another; a function is asked only when no thread holds
   * the answer parsed. Bytes over a SharedArrayBuffer are read where they are, others are copied once.
   */
  bytes: Uint8Array | (() => Promise<Uint8Array>)
  /** Its Content-Type; without one it is what its beginning looks like. */
  mediaType?: string | undefined
  /** What stands for exactly these bytes and nothing else, such as a cache id: a next look at them begins at once. */
  key?: string | undefined
  /** What to do with it, in the order filter, search, explore; nothing: its beginning is shown. */
  steps?: AnswerSteps
  /** Tokens of what is sent, notes included; 0 or none: all of it. */
  budgetTokens?: number
  /** Tokens of the whole answer where they were counted before, which spares to count them again. */
  tokensBefore?: number | undefined
  /** Whether all that the steps have found is given too, as `whole`. */
  keepsWhole?: boolean
  signal?: AbortSignal | undefined
}

/** Why there is nothing to show; the message is a sentence for a model. */
export type AnswerWorkRefusal = { reason: 'time' | 'memory' | 'busy' | 'aborted' | 'closed'; message: string }

/** Bytes that a thread reads where they are. */
const share = (bytes: Uint8Array): Uint8Array => {
  if (bytes.buffer instanceof SharedArrayBuffer) return bytes
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.byteLength))
  shared.set(bytes)
  return shared
}

/**
 * Looks into answers in threads, off the event loop: parses them, runs the steps, counts tokens, cuts to the budget.
 * No thread is there before the first look, and none stays that has nothing to do.
 */
export const createAnswerWork = (options: AnswerWorkOptions = {}) => {
  const { timeLimitMs = TIME_LIMIT_MS, memoryLimitMb = MEMORY_LIMIT_MB } = options
  const maxThreads = options.maxThreads ?? Math.min(MAX_THREADS, Math.max(MIN_THREADS, availableParallelism()))
  const threads = createThreads<AnswerJob, AnswerReply>({
    worker: findWorker('./answer.worker', import.meta.url),
    maxThreads,
    maxOfOwner: Math.max(1, maxThreads - 1),
    maxWaiting: MAX_WAITING,
    maxWaitingOfOwner: MAX_WAITING_OF_OWNER,
    timeLimitMs,
    memoryLimitMb,
    youngMemoryMb: YOUNG_MB,
    idleMs: options.idleMs,
  })
  const shares = createByteShares({ maxBytes: MAX_BYTES, maxBytesOfOwner: MAX_BYTES_OF_OWNER })
  const holders = new LRUCache<string, number>({ max: MAX_KNOWN_ANSWERS })

  const explain = (ending: JobEnding): AnswerWorkRefusal => {
    switch (ending) {
      case 'refused':
        return { reason: 'busy', message: 'Too many answers are being looked into. Try again later.' }
      case 'not_begun':
        return { reason: 'busy', message: 'The machine is too busy to look into answers. Try again later.' }
      case 'aborted':
        return { reason: 'aborted', message: 'The call was cancelled.' }
      case 'time': {
        const message = `Looking into this answer took longer than ${timeLimitMs} ms: ask for less of it.`
        return { reason: 'time', message }
      }
      case 'memory': {
        const message = `Looking into this answer takes more than ${memoryLimitMb} MB of memory: ask the tool for less of it.`
        return { reason: 'memory', message }
      }
      case 'closed':
        return { reason: 'closed', message: 'Patchbay is being stopped. Try again later.' }
    }
  }

  return {
    /** Rejects only for what should never happen, and with what reading the bytes rejects with. */
    look: async (asked: AnswerLookJob): Promise<Result<AnswerView, AnswerWorkRefusal>> => {
      const {
        owner,
        group = owner,
        bytes,
        mediaType = '',
        key,
        steps = {},
        budgetTokens = 0,
        tokensBefore,
        signal,
      } = asked
      const keepsWhole = asked.keepsWhole ?? false
      const job = { bytes: undefined, mediaType, key, steps, budgetTokens, tokensBefore, keepsWhole }
      const prefer = key === undefined ? undefined : holders.get(key)
      let outcome = prefer === undefined ? undefined : await threads.run(owner, () => job, { signal, prefer, group })
      if (outcome === undefined || (outcome.ok && outcome.value.kind === 'unknown')) {
        const read = typeof bytes === 'function' ? await bytes() : bytes
        const run = () => threads.run(owner, () => ({ ...job, bytes: share(read) }), { signal, prefer, group })
        outcome = (await shares.during(owner, read.byteLength, run)) ?? failure('refused')
      }
      if (!outcome.ok) return failure(explain(outcome.error))
      if (outcome.value.kind === 'unknown') throw new Error('a thread that was given an answer does not know it')
      if (key !== undefined) holders.set(key, outcome.value.threadId)
      return success(outcome.value.view)
    },
    /** Ends the threads: looks under way are answered as closed. */
    close: threads.close,
  }
}

export type AnswerWork = ReturnType<typeof createAnswerWork>
