export { createThreads, findWorker, type JobEnding } from './threads.ts'
