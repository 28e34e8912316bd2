import { AppError } from '../../lib/kernel/errors.ts'
import type { Result } from '../../lib/kernel/result.ts'
import type { JobEnding } from '../../lib/worker/job.ts'

/** Returns the output of a job. Throws `unavailable` if there is none. */
export const outputOf = async <Output>(job: Promise<Result<Output, JobEnding>>): Promise<Output> => {
  const result = await job
  if (result.ok) return result.value
  throw new AppError('unavailable', 'The history could not be read in time, because Patchbay is busy. Try again.', {
    retryAfterSeconds: 5,
  })
}
