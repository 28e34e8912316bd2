import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createWorkerPool, type WorkerPoolOptions } from '../lib/worker/worker-pool.ts'
import { JOBS } from './jobs.ts'

/** The worker's source or compiled file, in this directory. */
const WORKER = fileURLToPath(new URL(`./jobs.worker${extname(import.meta.url)}`, import.meta.url))

type Options = WorkerPoolOptions<typeof JOBS>
type PoolOptions = Pick<Options, 'memory'> & Omit<Partial<Options>, 'worker'> & { worker?: string | undefined }

export const createJobPool = ({ jobs = JOBS, worker = WORKER, ...options }: PoolOptions) =>
  createWorkerPool({ jobs, worker, ...options })

export type JobPool = ReturnType<typeof createJobPool>
