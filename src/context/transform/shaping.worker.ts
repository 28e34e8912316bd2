import { runJobs } from '../threads/thread-jobs.ts'
import { shapeAnswerText } from './shape-text.ts'

// What a worker thread of answer-shaper.ts runs.

export default runJobs(shapeAnswerText)
