import { threadId } from 'node:worker_threads'
import { findWorker } from '../../lib/worker/find-worker.ts'
import { createJobProcess } from '../../lib/worker/job-process.ts'
import { runJobs } from '../../lib/worker/thread-jobs.ts'
import type { AnswerJob, AnswerReply, AnswerView } from './answer-job.ts'

// What a worker thread of answer-work.ts runs: its jobs hold what strangers have answered, and go to a process of its own.

const { run, prepare } = createJobProcess<AnswerJob, AnswerView | undefined>(
  findWorker('./answer-process.worker', import.meta.url),
)

export default runJobs(async (job: AnswerJob): Promise<AnswerReply> => {
  const view = await run(job)
  return view === undefined ? { kind: 'unknown' } : { kind: 'view', view, threadId }
}, prepare)
