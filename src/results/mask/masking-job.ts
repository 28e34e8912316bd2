import { resourceLimits } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { Tenant } from '../../lib/worker/fair-queue.ts'
import type { Job, JobEnding } from '../../lib/worker/job.ts'
import { createSecretFinder, type FindSecrets, type Range } from './find-secrets.ts'
import { maskText } from './mask-text.ts'
import { MaskingError, type SecretSearch } from './masking.ts'
import type { RuleMasking } from './rules/masked-by-rules.ts'
import type { MaskByRulesJob } from './rules/rule-masking-job.ts'

export type FindSecretsJob = { secrets: readonly string[]; text: string }
export type MaskUtf8Job = { secrets: readonly string[]; utf8: Uint8Array }

/** Maximum number of prepared searches that each thread caches, keyed by their secrets. */
const MAX_PREPARED = 100
/** Share of the thread's heap that they may use. */
const PREPARED_SHARE = 1 / 8
/** Heap that a search uses for each byte of its secrets, measured with 64 KiB of them. */
const HEAP_PER_BYTE = 100
/** The heap limit in MiB if the thread has none, as in tests. */
const USUAL_HEAP_MB = 80

const { maxOldGenerationSizeMb: heapMb = USUAL_HEAP_MB } = resourceLimits
const prepared = new LRUCache<string, FindSecrets>({
  max: MAX_PREPARED,
  maxSize: Math.floor((heapMb * 1_024 * 1_024 * PREPARED_SHARE) / HEAP_PER_BYTE),
  sizeCalculation: (_, key) => Buffer.byteLength(key),
})

export const runFindSecretsJob = ({ secrets, text }: FindSecretsJob): Range[] => {
  const key = JSON.stringify(secrets)
  const find = prepared.get(key) ?? createSecretFinder(secrets)
  prepared.set(key, find)
  return find(text)
}

const toBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength)

/** Returns the masked text in memory that threads share, or undefined if it contains no secret. */
export const runMaskUtf8Job = ({ secrets, utf8 }: MaskUtf8Job): Uint8Array | undefined => {
  const text = toBuffer(utf8).toString('utf8')
  const ranges = runFindSecretsJob({ secrets, text })
  if (ranges.length === 0) return undefined
  const masked = maskText(text, ranges)
  const shared = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(masked)))
  shared.write(masked)
  return shared
}

const REASONS: Readonly<Record<JobEnding, string>> = {
  queue_full: 'Too many results of this server are waiting to be processed. Try again later.',
  not_started: 'Masking this result could not start in time: the machine is busy. Try again later.',
  aborted: 'The call was cancelled.',
  time: 'Masking this result took too long. Ask the tool for less.',
  memory: 'Masking this result took too much memory. Ask the tool for less.',
  closed: 'Patchbay is shutting down. Try again later.',
}

export type MaskingJobs = {
  findSecrets: Job<FindSecretsJob, Range[]>
  maskUtf8: Job<MaskUtf8Job, Uint8Array | undefined>
  maskByRules: Job<MaskByRulesJob, Uint8Array | undefined>
}

/** The work of masking long texts, in the worker pool. */
export type LongMasking = SecretSearch & RuleMasking

/** Creates a function that returns the masking of long texts in the worker pool, for one tenant. */
export const createLongMaskingFor =
  ({ findSecrets, maskUtf8, maskByRules }: MaskingJobs) =>
  ({ owner, group }: Tenant): LongMasking => {
    const run = async <Input, Output>(job: Job<Input, Output>, input: Input, signal: StopSignal | undefined) => {
      const ran = await job.run(owner, input, { group, signal, affinity: owner })
      if (!ran.ok) throw new MaskingError(REASONS[ran.error])
      return ran.value
    }
    return {
      find: (secrets, text, signal) => run(findSecrets, { secrets, text }, signal),
      maskUtf8: async (secrets, utf8, signal) => {
        const masked = await run(maskUtf8, { secrets, utf8 }, signal)
        return masked && toBuffer(masked)
      },
      maskByRules: async (rules, utf8, signal) => {
        const masked = await run(maskByRules, { rules, utf8 }, signal)
        return masked && toBuffer(masked)
      },
    }
  }

export type LongMaskingFor = ReturnType<typeof createLongMaskingFor>
