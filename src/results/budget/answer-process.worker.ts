import { serveJobs } from '../../lib/worker/process-jobs.ts'

// What the process of a thread of answer-work.ts runs.

await serveJobs(import.meta.url, async () => (await import('./look-into-answer.ts')).createAnswerLook())
