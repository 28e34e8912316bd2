import type { MessagePort } from 'node:worker_threads'
import { shapeAnswerText } from './shape-text.ts'
import type { ShapingJob, ShapingOutcome } from './shaping-job.ts'

/** One job. `began` is told that it begins: what waits for a thread takes none of its time. */
export default async ({ job, began }: { job: ShapingJob; began: MessagePort }): Promise<ShapingOutcome> => {
  began.postMessage('began')
  began.close()
  return shapeAnswerText(job)
}
