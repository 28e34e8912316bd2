import { LRUCache } from 'lru-cache'
import type { PipelineSteps } from '../../lib/json/pipeline.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import type { Tenant } from '../../lib/worker/fair-queue.ts'
import type { Job, JobEnding } from '../../lib/worker/job.ts'
import { createByteShares } from './byte-shares.ts'
import type { InspectionJob, InspectionView } from './inspection-job.ts'

/** Maximum bytes of the results that are being inspected or wait for it, of all servers together and of one. */
const MAX_BYTES = 400 * 1_024 * 1_024
const MAX_BYTES_OF_OWNER = 100 * 1_024 * 1_024
/** Maximum number of keys remembered of results that a worker may have parsed. */
const MAX_KNOWN_RESULTS = 1_000

/** The inspection of one result. */
export type InspectionTask = Tenant & {
  /**
   * The result, in UTF-8 unless the media type names another charset. A function is called only if no worker has the
   * parsed result cached.
   */
  bytes: Uint8Array | (() => Promise<Uint8Array>)
  /** The Content-Type. Without one, the format is guessed from the beginning. */
  mediaType?: string | undefined
  /** Identifies exactly these bytes, such as a cache id, so that the next inspection need not parse them again. */
  key?: string | undefined
  /** Steps to run, in the order filter, search, explore. Without any, the beginning is shown. */
  steps?: PipelineSteps
  /** Maximum tokens to send, including notes; 0 or undefined for no limit. */
  budgetTokens?: number
  /** Tokens of the whole result, if already counted. */
  tokensBefore?: number | undefined
  /** Whether to return also everything that the steps found, as `whole`. */
  keepsWhole?: boolean
  signal?: AbortSignal | undefined
}

/** Why a result could not be inspected. The message is a sentence for the model. */
export type InspectionRefusal = { reason: 'time' | 'memory' | 'busy' | 'aborted' | 'closed'; message: string }

/** Inspects results in the worker pool: parses them, runs the steps, counts tokens, cuts to the budget. */
export const createResultInspector = ({
  run,
  timeLimitMs,
  heapLimitMb,
}: Job<InspectionJob, InspectionView | undefined>) => {
  const shares = createByteShares({ maxBytes: MAX_BYTES, maxBytesOfOwner: MAX_BYTES_OF_OWNER })
  const known = new LRUCache<string, true>({ max: MAX_KNOWN_RESULTS })

  const explain = (ending: JobEnding): InspectionRefusal => {
    switch (ending) {
      case 'queue_full':
        return { reason: 'busy', message: 'Too many results are being inspected. Try again later.' }
      case 'not_started':
        return { reason: 'busy', message: 'The machine is too busy to inspect results. Try again later.' }
      case 'aborted':
        return { reason: 'aborted', message: 'The call was cancelled.' }
      case 'time': {
        const message = `Inspecting this result took longer than ${timeLimitMs} ms: ask for less of it.`
        return { reason: 'time', message }
      }
      case 'memory': {
        const message = `Inspecting this result takes more than ${heapLimitMb} MB of memory: ask the tool for less.`
        return { reason: 'memory', message }
      }
      case 'closed':
        return { reason: 'closed', message: 'Patchbay is being stopped. Try again later.' }
    }
  }

  return {
    /** Inspects a result. Rejects only for unexpected errors, and if reading the bytes rejects. */
    inspect: async (asked: InspectionTask): Promise<Result<InspectionView, InspectionRefusal>> => {
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

export type ResultInspector = ReturnType<typeof createResultInspector>
