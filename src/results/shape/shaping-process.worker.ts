import { serveJobs } from '../../lib/worker/process-jobs.ts'

// What the process of a thread of answer-shaper.ts runs.

await serveJobs(import.meta.url, async () => (await import('./shape-text.ts')).shapeAnswerText)
