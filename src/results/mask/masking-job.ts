import { LRUCache } from 'lru-cache'
import type { Tenant } from '../../lib/worker/fair-queue.ts'
import type { Job, JobEnding } from '../../lib/worker/job.ts'
import { createSecretFinder, type FindSecrets, type Range } from './find-secrets.ts'
import { MaskingError, type SecretSearch } from './masking.ts'

export type MaskingJob = { secrets: readonly string[]; text: string }

/** Maximum number of prepared searches that each thread caches, keyed by their secrets. */
const MAX_PREPARED = 100

/** Creates the job's function, which caches prepared searches. */
export const createFindSecretsJob = (): ((job: MaskingJob) => Range[]) => {
  const prepared = new LRUCache<string, FindSecrets>({ max: MAX_PREPARED })
  return ({ secrets, text }) => {
    const key = JSON.stringify(secrets)
    const find = prepared.get(key) ?? createSecretFinder(secrets)
    prepared.set(key, find)
    return find(text)
  }
}

const REASONS: Readonly<Record<JobEnding, string>> = {
  queue_full: 'Too many results of this server are waiting to be processed. Try again later.',
  not_started: 'Masking the secrets in this result could not start in time: the machine is busy. Try again later.',
  aborted: 'The call was cancelled.',
  time: 'Masking the secrets in this result took too long. Ask the tool for less.',
  memory: 'Masking the secrets in this result took too much memory. Ask the tool for less.',
  closed: 'Patchbay is shutting down. Try again later.',
}

/** Creates a function that searches for secrets in the worker pool, for one tenant. */
export const createSecretSearchFor =
  ({ run }: Job<MaskingJob, Range[]>) =>
  ({ owner, group }: Tenant): SecretSearch =>
  async (secrets, text, signal) => {
    const found = await run(owner, { secrets, text }, { group, signal, affinity: owner })
    if (!found.ok) throw new MaskingError(REASONS[found.error])
    return found.value
  }

export type SecretSearchFor = ReturnType<typeof createSecretSearchFor>
