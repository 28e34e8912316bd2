export { findWorker } from './find-worker.ts'
export { createThreads, type JobEnding } from './threads.ts'
