import { serveJobs } from '../lib/worker/serve-jobs.ts'
import { JOBS } from './jobs.ts'

export default await serveJobs(import.meta.url, JOBS)
