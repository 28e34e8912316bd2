import { describeEnding } from '../../imports/reading/source-job.ts'
import { createJobPool, type JobPool } from '../../jobs/job-pool.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Result } from '../../lib/kernel/result.ts'
import { loadSettings } from '../../lib/process/settings.ts'
import type { Job } from '../../lib/worker/job.ts'

/** Reads a source in a process with limits of its own. Throws an error with the reason if it cannot be read. */
export const runReader = async <Input, Output>(
  jobOf: (pool: JobPool) => Job<Input, Result<Output, string>>,
  input: Input,
): Promise<Output> => {
  const pool = createJobPool({ memory: loadSettings().memory })
  try {
    const ended = await jobOf(pool).run('cli', input)
    if (!ended.ok) throw new AppError('unavailable', describeEnding(ended.error))
    if (!ended.value.ok) throw new AppError('invalid_request', ended.value.error)
    return ended.value.value
  } finally {
    await pool.close()
  }
}
