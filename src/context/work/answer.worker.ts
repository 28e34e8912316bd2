import { threadId } from 'node:worker_threads'
import { runJobs } from '../threads/thread-jobs.ts'
import type { AnswerJob, AnswerReply } from './answer-job.ts'
import { createAnswerLook } from './look-into-answer.ts'

// What a worker thread of answer-work.ts runs.

const look = createAnswerLook()

export default runJobs(async (job: AnswerJob): Promise<AnswerReply> => {
  const view = await look(job)
  return view === undefined ? { kind: 'unknown' } : { kind: 'view', view, threadId }
})
