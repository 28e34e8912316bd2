import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MessageChannel } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { failure, type Result, success } from '../../kernel/index.ts'
import type { AnswerSteps } from '../answers/answer-steps.ts'
import type { AnswerJob, AnswerReply, AnswerView } from './answer-job.ts'
import { type AnswerPool, openAnswerPool } from './answer-pool.ts'

/** The source under Node's type stripping, its compiled form in dist: whichever this file is. */
const WORKER_FILE = fileURLToPath(new URL(`./answer.worker${extname(import.meta.url)}`, import.meta.url))

/** What one look may take: one at 10 MB takes a second or two, ten on a machine that is busy. */
const TIME_LIMIT_MS = 20_000
/** From the job being given until a thread begins with it: threads take their time to start on a busy machine. */
const START_LIMIT_MS = 20_000
/**
 * Memory of one thread, in MB: twice what one answer may take parsed, and as much again for what is made of it. A real
 * answer of 10 MB takes a tenth. It should never be reached: a thread that does so inside of V8 ends the process.
 */
const MEMORY_LIMIT_MB = 1_024
/** How long a thread that has nothing to do is kept, and with it what it holds. */
const IDLE_MS = 30_000
/** One long look must not be all that runs; more of them at once would take the memory and the cores of calls. */
const MIN_THREADS = 2
const MAX_THREADS = 4
/** Looks that are under way or wait, and bytes of their answers: more are refused at once. */
const MAX_LOOKS = 200
const MAX_LOOK_BYTES = 200 * 1_024 * 1_024
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

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined

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
  const timeLimitMs = options.timeLimitMs ?? TIME_LIMIT_MS
  const memoryLimitMb = options.memoryLimitMb ?? MEMORY_LIMIT_MB
  const holders = new LRUCache<string, number>({ max: MAX_KNOWN_ANSWERS })
  let pool: AnswerPool | undefined
  let isClosed = false
  let looks = 0
  let lookBytes = 0

  const open = () =>
    openAnswerPool({
      file: WORKER_FILE,
      maxThreads: options.maxThreads ?? Math.min(MAX_THREADS, Math.max(MIN_THREADS, availableParallelism())),
      idleMs: options.idleMs ?? IDLE_MS,
      memoryLimitMb,
    })

  const explain = (error: unknown, isTimeout: boolean, hasBegun: boolean): AnswerWorkRefusal | undefined => {
    if (codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY') {
      const message = `Looking into this answer takes more than ${memoryLimitMb} MB of memory: ask the tool for less of it.`
      return { reason: 'memory', message }
    }
    if (isClosed) return { reason: 'closed', message: 'Patchbay is being stopped. Try again later.' }
    if (!isTimeout) return undefined
    if (!hasBegun) return { reason: 'busy', message: 'The machine is too busy to look into answers. Try again later.' }
    return {
      reason: 'time',
      message: `Looking into this answer took longer than ${timeLimitMs} ms: ask for less of it.`,
    }
  }

  /** One job on one thread. */
  const run = async (
    job: AnswerJob,
    holder: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Result<AnswerReply, AnswerWorkRefusal>> => {
    pool ??= open()
    const end = new AbortController()
    const abort = (): void => end.abort()
    const { port1, port2 } = new MessageChannel()
    let isTimeout = false
    let hasBegun = false
    const expire = (): void => {
      isTimeout = true
      end.abort()
    }
    let timer = setTimeout(expire, START_LIMIT_MS)
    port1.once('message', () => {
      hasBegun = true
      clearTimeout(timer)
      timer = setTimeout(expire, timeLimitMs)
    })
    signal?.addEventListener('abort', abort, { once: true })
    try {
      if (signal?.aborted === true) end.abort()
      return success(await pool.run({ job, began: port2 }, holder, end.signal))
    } catch (error) {
      if (signal?.aborted === true) return failure({ reason: 'aborted', message: 'The call was cancelled.' })
      const refusal = explain(error, isTimeout, hasBegun)
      if (refusal === undefined) throw error
      return failure(refusal)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      port1.close()
    }
  }

  const inTurn = async (bytes: number, begin: () => ReturnType<typeof run>): ReturnType<typeof run> => {
    if (looks >= MAX_LOOKS || lookBytes + bytes > MAX_LOOK_BYTES) {
      return failure({ reason: 'busy', message: 'Too many answers are being looked into. Try again later.' })
    }
    looks++
    lookBytes += bytes
    try {
      return await begin()
    } finally {
      looks--
      lookBytes -= bytes
    }
  }

  return {
    /** Rejects only for what should never happen, and with what reading the bytes rejects with. */
    look: async (asked: AnswerLookJob): Promise<Result<AnswerView, AnswerWorkRefusal>> => {
      if (isClosed) return failure({ reason: 'closed', message: 'Patchbay is being stopped. Try again later.' })
      const {
        bytes,
        mediaType = '',
        key,
        steps = {},
        budgetTokens = 0,
        tokensBefore,
        keepsWhole = false,
        signal,
      } = asked
      const job = { bytes: undefined, mediaType, key, steps, budgetTokens, tokensBefore, keepsWhole }
      const holder = key === undefined ? undefined : holders.get(key)
      let outcome = holder === undefined ? undefined : await inTurn(0, () => run(job, holder, signal))
      if (outcome === undefined || (outcome.ok && outcome.value.kind === 'unknown')) {
        const read = typeof bytes === 'function' ? await bytes() : bytes
        outcome = await inTurn(read.byteLength, () => run({ ...job, bytes: share(read) }, holder, signal))
      }
      if (!outcome.ok) return outcome
      if (outcome.value.kind === 'unknown') throw new Error('a thread that was given an answer does not know it')
      if (key !== undefined) holders.set(key, outcome.value.threadId)
      return success(outcome.value.view)
    },
    /** Ends the threads: looks under way are answered as closed. */
    close: async (): Promise<void> => {
      isClosed = true
      await pool?.close()
    },
  }
}

export type AnswerWork = ReturnType<typeof createAnswerWork>
