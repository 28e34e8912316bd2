import { serveJobs } from '../lib/worker/serve-jobs.ts'
import { JOBS } from './jobs.ts'

export default serveJobs(import.meta.url, JOBS)
