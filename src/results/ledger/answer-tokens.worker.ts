import { runJobs } from '../../lib/worker/thread-jobs.ts'
import { createAnswerCount } from './count-answers.ts'

// What the worker thread of answer-tokens-work.ts runs.

export default runJobs(createAnswerCount())
