import { type MessagePort, threadId } from 'node:worker_threads'
import type { AnswerJob, AnswerReply } from './answer-job.ts'
import { createAnswerLook } from './look-into-answer.ts'

// What a worker thread of the pool runs: one job at a time. See answer-work.ts.

const look = createAnswerLook()

/** One job. `began` is told that it begins: what waits for a thread takes none of its time. */
export default async ({ job, began }: { job: AnswerJob; began: MessagePort }): Promise<AnswerReply> => {
  began.postMessage('began')
  began.close()
  const view = await look(job)
  return view === undefined ? { kind: 'unknown' } : { kind: 'view', view, threadId }
}
