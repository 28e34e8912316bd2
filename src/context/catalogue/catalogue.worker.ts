import type { CatalogueFigures, CatalogueJob } from './catalogue-job.ts'
import { createCatalogueReader } from './read-catalogue.ts'

// What the worker thread of catalogue-work.ts runs: one catalogue at a time.

const read = createCatalogueReader()

export default (job: CatalogueJob): Promise<CatalogueFigures> => read(job)
