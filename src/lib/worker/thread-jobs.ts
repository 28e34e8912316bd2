import type { MessagePort } from 'node:worker_threads'

/** A job, and where its thread says that it begins with it: what waits for a thread takes none of its time. */
export type SentJob<Job> = { job: Job; began: MessagePort }

/** What the module of a thread exports: runs one job at a time. What `prepare` takes is none of the job's time. */
export const runJobs =
  <Job, Answer>(run: (job: Job) => Promise<Answer> | Answer, prepare?: () => Promise<void>) =>
  async ({ job, began }: SentJob<Job>): Promise<Answer> => {
    await prepare?.()
    began.postMessage('began')
    began.close()
    return run(job)
  }
