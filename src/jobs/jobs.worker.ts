import { JOBS } from './jobs.ts'
import { serveJobs } from '../lib/worker/serve-jobs.ts'

export default await serveJobs(import.meta.url, JOBS)
