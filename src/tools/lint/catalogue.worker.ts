import { runJobs } from '../../lib/worker/thread-jobs.ts'
import { createCatalogueReader } from './read-catalogue.ts'

// What the worker thread of catalogue-work.ts runs.

export default runJobs(createCatalogueReader())
