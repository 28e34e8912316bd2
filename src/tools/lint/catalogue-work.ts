import { findWorker } from '../../lib/worker/find-worker.ts'
import { createThreads } from '../../lib/worker/threads.ts'
import type { CatalogueFigures, CatalogueJob } from './catalogue-job.ts'

/** What one catalogue may take: one of 2,000 tools takes some seconds; and how long it may wait for the thread before. */
const TIME_LIMIT_MS = 60_000
/** Memory of the thread, in MB: the tables of the encoding take 40, and the largest catalogue as much again. */
const MEMORY_LIMIT_MB = 256
/** Catalogues that wait for it, of all servers and of one; more are refused. */
const MAX_WAITING = 100
const MAX_WAITING_OF_SERVER = 10

/** Counts and lints catalogues in a thread of their own, off the event loop. */
export const createCatalogueWork = () => {
  const threads = createThreads<CatalogueJob, CatalogueFigures>({
    worker: findWorker('./catalogue.worker', import.meta.url),
    maxThreads: 1,
    maxOfOwner: 1,
    maxWaiting: MAX_WAITING,
    maxWaitingOfOwner: MAX_WAITING_OF_SERVER,
    timeLimitMs: TIME_LIMIT_MS,
    startLimitMs: TIME_LIMIT_MS,
    memoryLimitMb: MEMORY_LIMIT_MB,
  })
  return {
    /** Rejects where it takes too long or too much. */
    read: async (serverId: string, job: CatalogueJob): Promise<CatalogueFigures> => {
      const read = await threads.run(serverId, () => job)
      if (!read.ok) throw new Error(`the catalogue of server ${serverId} was not counted: ${read.error}`)
      return read.value
    },
    close: threads.close,
  }
}
export type CatalogueWork = ReturnType<typeof createCatalogueWork>
