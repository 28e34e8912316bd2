import { findWorker } from '../../lib/worker/find-worker.ts'
import { createJobProcess } from '../../lib/worker/job-process.ts'
import { runJobs } from '../../lib/worker/thread-jobs.ts'
import type { ShapingJob, ShapingOutcome } from './shaping-job.ts'

// What a worker thread of answer-shaper.ts runs: its jobs hold what strangers have written, and go to a process of its own.

const { run, prepare } = createJobProcess<ShapingJob, ShapingOutcome>(
  findWorker('./shaping-process.worker', import.meta.url),
)

export default runJobs(run, prepare)
