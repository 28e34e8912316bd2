import { createJobPool } from '../../src/jobs/job-pool.ts'
import { JOBS } from '../../src/jobs/jobs.ts'
import { shareMemory } from '../../src/lib/process/memory-budget.ts'
import { createResultInspector } from '../../src/results/budget/result-inspector.ts'
import { createResultShaper } from '../../src/results/shape/result-shaper.ts'
import { createSchemaChecks } from '../../src/tools/schemas/schema-check.ts'
import type { SchemaCheckJob } from '../../src/tools/schemas/schema-check-job.ts'
import { BUILT_JOBS } from './built-jobs.ts'

/** The memory of a Patchbay that lacks none. */
export const MEMORY = shareMemory(8_192)

type Limits = { timeLimitMs?: number; heapLimitMb?: number; maxThreads?: number; maxBytes?: number }

const withLimits = (name: 'inspect-result' | 'shape-result' | 'check-schema', limits: Limits) => {
  const { timeLimitMs, ownProcess } = JOBS[name]
  const { heapLimitMb = ownProcess.heapLimitMb, maxThreads } = limits
  const job = { ...JOBS[name], timeLimitMs: limits.timeLimitMs ?? timeLimitMs, ownProcess: { heapLimitMb } }
  const memory = { ...MEMORY, ...(maxThreads !== undefined && { maxThreads }) }
  return createJobPool({ jobs: { ...JOBS, [name]: job }, memory, worker: BUILT_JOBS })
}

/** Starts an application in which this job has a time limit of its own. No other test may use the application. */
export const startWithJobTime = async <Started>(
  name: keyof typeof JOBS,
  timeLimitMs: number,
  start: () => Promise<Started>,
): Promise<Started> => {
  const job = JOBS[name]
  const usual = job.timeLimitMs
  job.timeLimitMs = timeLimitMs
  try {
    return await start()
  } finally {
    job.timeLimitMs = usual
  }
}

/** Opens a result inspector with a worker pool and limits of its own. */
export const openResultInspector = (limits: Limits = {}) => {
  const workers = withLimits('inspect-result', limits)
  return {
    ...createResultInspector(workers.job('inspect-result'), limits.maxBytes ?? MEMORY.inFlightBytes),
    close: workers.close,
  }
}

/** Opens schema checks with a worker pool and limits of their own. `sandboxed` has the tasks done in the sandbox. */
export const openSchemaChecks = (limits: Limits = {}) => {
  const workers = withLimits('check-schema', limits)
  const job = workers.job('check-schema')
  const sandboxed: SchemaCheckJob['task'][] = []
  const run: typeof job.run = (owner, input, options) => {
    sandboxed.push(input.task)
    return job.run(owner, input, options)
  }
  return { ...createSchemaChecks({ ...job, run }), sandboxed, close: workers.close }
}

/** Opens a result shaper with a worker pool and limits of its own. */
export const openResultShaper = (limits: Limits = {}) => {
  const workers = withLimits('shape-result', limits)
  return { ...createResultShaper(workers.job('shape-result')), close: workers.close }
}
