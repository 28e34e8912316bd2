import { join } from 'node:path'

/**
 * The module of the job pool in the build, which `npm test` keeps up to date. Its processes start with half of the CPU
 * time that the sources need, and tests start hundreds of them.
 */
export const BUILT_JOBS = join(import.meta.dirname, '../../dist/jobs/jobs.worker.js')
