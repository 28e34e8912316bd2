import type { Tenant } from '../../lib/worker/fair-queue.ts'
import type { Job, JobEnding } from '../../lib/worker/job.ts'
import { LANGUAGE_NAMES } from '../../tools/response/result-shaping.ts'
import type { ShapingJob, ShapingOutcome } from './shaping-job.ts'

/**
 * Shapes results in the worker pool. Expressions are untrusted, so a process is terminated if its expression exceeds a
 * limit.
 */
export const createResultShaper = ({ run, timeLimitMs, heapLimitMb }: Job<ShapingJob, ShapingOutcome>) => {
  /** Explains why there is no result, and names the tool's transform if it has one. */
  const explain = ({ shaping: { transform } }: ShapingJob, ending: JobEnding): string => {
    const what =
      transform === undefined
        ? 'Shaping the results of this tool'
        : `The transform of this tool (${LANGUAGE_NAMES[transform.language]})`
    switch (ending) {
      case 'queue_full':
        return 'Too many results are waiting to be shaped. Try again later.'
      case 'memory':
        return `${what} took more than ${heapLimitMb} MB of memory and was stopped. Its builder must simplify it.`
      case 'time':
        return `${what} took longer than ${timeLimitMs} ms and was stopped. Its builder must simplify it.`
      case 'aborted':
        return 'The call was cancelled.'
      case 'not_started':
        return `${what} could not start in time: the machine is busy. Try again later.`
      case 'closed':
        return 'Patchbay is shutting down. Try again later.'
    }
  }

  return {
    /** Rejects only for unexpected errors. */
    shape: async ({ owner, group }: Tenant, job: ShapingJob): Promise<ShapingOutcome> => {
      const shaped = await run(owner, job, { group })
      return shaped.ok ? shaped.value : { kind: 'failed', message: explain(job, shaped.error) }
    },
  }
}

export type ResultShaper = ReturnType<typeof createResultShaper>
