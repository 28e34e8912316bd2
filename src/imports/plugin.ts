import type { Database } from '../lib/db/client.ts'
import { MAX_SOCKETS_PER_ORIGIN } from '../lib/kernel/limits.ts'
import { createHttpClient, type HttpClientOptions } from '../lib/outbound/client.ts'
import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Logger } from '../lib/process/logger.ts'
import { ENOUGH_MEMORY_MB } from '../lib/process/memory-budget.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import type { Settings } from '../lib/process/settings.ts'
import type { TokenCounterFor } from '../lib/tokens/token-counter.ts'
import type { FindCreator } from '../lib/worker/fair-queue.ts'
import { createImportService } from './imports.service.ts'
import { failImport, listAbandoned, listReadable, removeExpiredImports } from './imports.store.ts'
import { createImportReader } from './reading/import-reader.ts'
import { createSourceFiles, type SourceFiles } from './reading/source-files.ts'
import { READER_STOPPED, type SourceJobs } from './reading/source-job.ts'

export type ImportsNeeds = {
  db: Database
  sealing: Sealing
  logger: Logger
  settings: Pick<Settings, 'dataDirectory' | 'memory'> & {
    limits: Pick<Settings['limits'], 'maxImportBytes' | 'maxRedirects'>
  }
  network: Pick<HttpClientOptions, 'policy' | 'connectTimeoutMs' | 'ownOrigins' | 'findCreator' | 'lookup'>
  jobs: SourceJobs
  tokenCounterFor: TokenCounterFor
  findCreator: FindCreator
}

const memoryProblemOf = ({ totalMb }: Settings['memory']): string | undefined =>
  totalMb >= ENOUGH_MEMORY_MB
    ? undefined
    : `Imports need ${ENOUGH_MEMORY_MB} MB of memory, and this Patchbay has ${totalMb} MB (PATCHBAY_MEMORY_MB).`

/** Removes what readers of processes that have ended left, and what has expired. */
const cleanUp = async (db: Database, files: SourceFiles, signal: AbortSignal): Promise<void> => {
  for (const id of await listAbandoned(db, Date.now())) await failImport(db, id, READER_STOPPED)
  await removeExpiredImports(db, new Date(), signal)
  const withFiles = await files.list()
  const needed = new Set(await listReadable(db, withFiles))
  for (const id of withFiles) if (!needed.has(id)) await files.remove(id)
}

/** Creates the service that imports API descriptions and requests. */
export const importsPlugin = (
  { db, sealing, logger, settings, network, jobs, tokenCounterFor, findCreator }: ImportsNeeds,
  lifecycle: Lifecycle,
) => {
  const { maxImportBytes: maxBytes, maxRedirects } = settings.limits
  const files = createSourceFiles(settings.dataDirectory)
  const http = createHttpClient({ ...network, maxRedirects, maxSockets: MAX_SOCKETS_PER_ORIGIN })
  lifecycle.onClose(http.close)
  const reader = createImportReader({ db, sealing, logger, http, jobs, files, maxBytes, findCreator })
  // Closed before the database, which then knows that the sources were not read.
  lifecycle.onClose(reader.close)
  lifecycle.addChores({ name: 'remove old imports', run: signal => cleanUp(db, files, signal) })
  const memoryProblem = memoryProblemOf(settings.memory)
  return { imports: createImportService({ db, sealing, reader, files, tokenCounterFor, maxBytes, memoryProblem }) }
}
