import { LRUCache } from 'lru-cache'
import { formatBytes } from '../../lib/kernel/format.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import type { Tenant } from '../../lib/worker/fair-queue.ts'
import type { Job, JobEnding } from '../../lib/worker/job.ts'
import { createByteShares } from './byte-shares.ts'
import type { InspectionJob, InspectionView } from './inspection-job.ts'

/** Share of the bytes being inspected or waiting that one server may have. */
const OWNER_SHARE = 1 / 4
/** Heap that the tokenizer needs, in MiB, and the heap that a typical result needs as a multiple of its size. */
const TOKENIZER_MB = 48
const HEAP_PER_BYTE = 8
/** Maximum number of remembered keys of results that a worker may have cached. */
const MAX_KNOWN_RESULTS = 1_000

/** The inspection of one result. */
export type InspectionTask = Tenant &
  Partial<Omit<InspectionJob, 'bytes'>> & {
    /**
     * The result, in UTF-8 unless the media type names another charset. If it is a function, it is called only if no
     * worker has the parsed result cached.
     */
    bytes: Uint8Array | (() => Promise<Uint8Array>)
  }

/**
 * Inspects results in the worker pool: parses them, runs the steps, counts tokens, cuts to the budget. `maxBytes` limits
 * the results being inspected or waiting.
 */
export const createResultInspector = (
  { run, timeLimitMs, heapLimitMb }: Job<InspectionJob, InspectionView | undefined>,
  maxBytes: number,
) => {
  const shares = createByteShares({ maxBytes, maxBytesOfOwner: maxBytes * OWNER_SHARE })
  const maxResultBytes = ((heapLimitMb - TOKENIZER_MB) * 1_024 * 1_024) / HEAP_PER_BYTE
  let inProgress = 0
  let endedAt = Number.NEGATIVE_INFINITY
  const parsed = new LRUCache<string, true>({ max: MAX_KNOWN_RESULTS })

  const reasons: Readonly<Record<JobEnding, string>> = {
    queue_full: 'Too many results are being inspected. Try again later.',
    not_started: 'The machine is too busy to inspect results. Try again later.',
    aborted: 'The call was cancelled.',
    time: `Inspecting this result took longer than ${timeLimitMs} ms. Ask for less of it.`,
    memory: `Inspecting this result took more than ${heapLimitMb} MB of memory. Ask the tool for less.`,
    closed: 'Patchbay is shutting down. Try again later.',
  }

  const tooLarge = (bytes: number): string =>
    `This result of ${formatBytes(bytes)} is too large to be searched, filtered or counted in the memory of this Patchbay, where at most ${formatBytes(maxResultBytes)} are possible. Ask the tool for less, or have the operator raise PATCHBAY_MEMORY_MB.`

  const inspect = async ({ owner, group, bytes, ...task }: InspectionTask): Promise<Result<InspectionView, string>> => {
    const { mediaType = '', key, steps = {}, budgetTokens = 0, keepsWhole = false } = task
    const { tokensBefore, isBeforeEstimated = false } = task
    const known = { tokensBefore, isBeforeEstimated }
    const job = { bytes: undefined, mediaType, key, steps, budgetTokens, ...known, keepsWhole }
    const options = { group, affinity: key }
    const isParsed = key !== undefined && parsed.has(key)
    let outcome = isParsed ? await run(owner, job, options) : undefined
    if (outcome === undefined || (outcome.ok && outcome.value === undefined)) {
      const read = typeof bytes === 'function' ? await bytes() : bytes
      if (read.byteLength > maxResultBytes) return failure(tooLarge(read.byteLength))
      const runWithBytes = () => run(owner, { ...job, bytes: read }, options)
      outcome = (await shares.during(owner, read.byteLength, runWithBytes)) ?? failure('queue_full')
    }
    if (!outcome.ok) return failure(reasons[outcome.error])
    if (outcome.value === undefined) throw new Error('a worker received a result but returned no view')
    if (key !== undefined) parsed.set(key, true)
    return success(outcome.value)
  }

  return {
    /**
     * Inspects a result. The error is a sentence for the model. Rejects only on unexpected errors or if the bytes
     * cannot be read.
     */
    inspect: async (task: InspectionTask): Promise<Result<InspectionView, string>> => {
      inProgress++
      try {
        return await inspect(task)
      } finally {
        inProgress--
        endedAt = performance.now()
      }
    },
    /** Returns for how long no result was inspected, in milliseconds. */
    quietMs: (): number => (inProgress > 0 ? 0 : performance.now() - endedAt),
  }
}

export type ResultInspector = ReturnType<typeof createResultInspector>
