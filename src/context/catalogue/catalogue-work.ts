import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import type { CatalogueFigures, CatalogueJob } from './catalogue-job.ts'

/** The source under Node's type stripping, its compiled form in dist: whichever this file is. */
const WORKER_FILE = fileURLToPath(new URL(`./catalogue.worker${extname(import.meta.url)}`, import.meta.url))

/** What one catalogue may take, its wait for the thread included: one of 2,000 tools takes some seconds. */
const TIME_LIMIT_MS = 60_000
/** Memory of the thread, in MB: the tables of the encoding take 40, and the largest catalogue as much again. */
const MEMORY_LIMIT_MB = 256
/** How long the thread is kept when there is nothing to do. */
const IDLE_MS = 30_000
/** Catalogues that wait for it; more are refused. */
const MAX_WAITING = 100
/** Nobody waits long for these figures: where the system knows priorities, calls have more. */
const NICENESS = 5

/**
 * Counts and lints catalogues in a thread of their own, off the event loop. It is not there before the first, nor
 * longer than half a minute after the last.
 */
export const createCatalogueWork = () => {
  let pool: Piscina<CatalogueJob, CatalogueFigures> | undefined

  const open = (): Piscina<CatalogueJob, CatalogueFigures> => {
    const opened = new Piscina<CatalogueJob, CatalogueFigures>({
      filename: WORKER_FILE,
      minThreads: 0,
      maxThreads: 1,
      maxQueue: MAX_WAITING,
      idleTimeout: IDLE_MS,
      niceIncrement: NICENESS,
      // A thread that sleeps between jobs without its event loop would not notice that it is to go.
      atomics: 'disabled',
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB, maxYoungGenerationSizeMb: 32 },
      env: {},
      argv: [],
      execArgv: [],
    })
    // What a thread says that was ended already: its job has been answered.
    opened.on('error', () => undefined)
    return opened
  }

  return {
    /** Rejects where it takes too long or too much. */
    read: (job: CatalogueJob): Promise<CatalogueFigures> => {
      pool ??= open()
      return pool.run(job, { signal: AbortSignal.timeout(TIME_LIMIT_MS) })
    },
    close: async (): Promise<void> => {
      await pool?.destroy()
    },
  }
}
export type CatalogueWork = ReturnType<typeof createCatalogueWork>
