import { LRUCache } from 'lru-cache'
import type { PipelineSteps } from '../../lib/json/pipeline.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import type { Tenant } from '../../lib/worker/fair-queue.ts'
import type { Job, JobEnding } from '../../lib/worker/job.ts'
import type { AnswerJob, AnswerView } from './answer-job.ts'
import { createByteShares } from './byte-shares.ts'

/** Bytes of answers that are being looked into or wait for it, of all servers and of one. */
const MAX_BYTES = 400 * 1_024 * 1_024
const MAX_BYTES_OF_OWNER = 100 * 1_024 * 1_024
/** Results that a process may hold parsed. */
const MAX_KNOWN_RESULTS = 1_000

/** One look into an answer. */
export type AnswerLookJob = Tenant & {
  /**
   * The answer in its charset, UTF-8 unless the media type says another. A function is called only if no process holds
   * the answer parsed.
   */
  bytes: Uint8Array | (() => Promise<Uint8Array>)
  /** Its Content-Type; without one it is what its beginning looks like. */
  mediaType?: string | undefined
  /** What stands for exactly these bytes and nothing else, such as a cache id: a next look at them begins at once. */
  key?: string | undefined
  /** What to do with it, in the order filter, search, explore; nothing: its beginning is shown. */
  steps?: PipelineSteps
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

/** Inspects results in the worker pool: parses them, runs the steps, counts tokens, cuts to the budget. */
export const createAnswerWork = ({ run, timeLimitMs, heapLimitMb }: Job<AnswerJob, AnswerView | undefined>) => {
  const shares = createByteShares({ maxBytes: MAX_BYTES, maxBytesOfOwner: MAX_BYTES_OF_OWNER })
  const known = new LRUCache<string, true>({ max: MAX_KNOWN_RESULTS })

  const explain = (ending: JobEnding): AnswerWorkRefusal => {
    switch (ending) {
      case 'queue_full':
        return { reason: 'busy', message: 'Too many answers are being looked into. Try again later.' }
      case 'not_started':
        return { reason: 'busy', message: 'The machine is too busy to look into answers. Try again later.' }
      case 'aborted':
        return { reason: 'aborted', message: 'The call was cancelled.' }
      case 'time': {
        const message = `Looking into this answer took longer than ${timeLimitMs} ms: ask for less of it.`
        return { reason: 'time', message }
      }
      case 'memory': {
        const message = `Looking into this answer takes more than ${heapLimitMb} MB of memory: ask the tool for less of it.`
        return { reason: 'memory', message }
      }
      case 'closed':
        return { reason: 'closed', message: 'Patchbay is being stopped. Try again later.' }
    }
  }

  return {
    /** Rejects only for what should never happen, and with what reading the bytes rejects with. */
    look: async (asked: AnswerLookJob): Promise<Result<AnswerView, AnswerWorkRefusal>> => {
      const { owner, group, bytes, mediaType = '', key, steps = {}, budgetTokens = 0, tokensBefore, signal } = asked
      const keepsWhole = asked.keepsWhole ?? false
      const job = { bytes: undefined, mediaType, key, steps, budgetTokens, tokensBefore, keepsWhole }
      const options = { group, signal, affinity: key }
      const isKnown = key !== undefined && known.has(key)
      let outcome = isKnown ? await run(owner, job, options) : undefined
      if (outcome === undefined || (outcome.ok && outcome.value === undefined)) {
        const read = typeof bytes === 'function' ? await bytes() : bytes
        const runWithBytes = () => run(owner, { ...job, bytes: read }, options)
        outcome = (await shares.during(owner, read.byteLength, runWithBytes)) ?? failure('queue_full')
      }
      if (!outcome.ok) return failure(explain(outcome.error))
      if (outcome.value === undefined) throw new Error('a process was given a result and does not know it')
      if (key !== undefined) known.set(key, true)
      return success(outcome.value)
    },
  }
}

export type AnswerWork = ReturnType<typeof createAnswerWork>
