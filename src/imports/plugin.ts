import { createMailQueue } from '../identity/mail/mail-queue.ts'
import type { Database } from '../lib/db/client.ts'
import type { Counters } from '../lib/db/counters.ts'
import type { Changes } from '../lib/events/changes.ts'
import { MAX_SOCKETS_PER_ORIGIN } from '../lib/kernel/limits.ts'
import type { Mailer } from '../lib/mail/mailer.ts'
import { createHttpClient, type HttpClientOptions } from '../lib/outbound/client.ts'
import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Logger } from '../lib/process/logger.ts'
import { ENOUGH_MEMORY_MB } from '../lib/process/memory-budget.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import type { Settings } from '../lib/process/settings.ts'
import type { TextCounterFor, TokenCounterFor } from '../lib/tokens/token-counter.ts'
import type { FindCreator } from '../lib/worker/fair-queue.ts'
import type { Uses } from '../tools/toolkits.service.ts'
import { createImportChanges } from './again/import-changes.service.ts'
import { checkFolderOf, createNewestReader } from './again/read-newest.ts'
import { createSourceChecks } from './again/source-checks.ts'
import { createToolkitSources } from './again/toolkit-source.service.ts'
import { listRecentlyChecked } from './again/toolkit-sources.store.ts'
import { createImportService } from './imports.service.ts'
import { failImport, listAbandoned, listReadable, removeExpiredImports } from './imports.store.ts'
import { fetchFewAtOnce } from './reading/few-fetches.ts'
import { createImportReader, type ImportReader } from './reading/import-reader.ts'
import { createTurns } from './reading/reading-turns.ts'
import { createSourceFiles, type SourceFiles } from './reading/source-files.ts'
import { READER_STOPPED, type SourceJobs } from './reading/source-job.ts'

export type ImportsNeeds = {
  db: Database
  sealing: Sealing
  logger: Logger
  settings: Pick<Settings, 'baseUrl' | 'dataDirectory' | 'memory'> & {
    limits: Pick<Settings['limits'], 'maxImportBytes' | 'maxRedirects'>
  }
  network: Pick<HttpClientOptions, 'policy' | 'connectTimeoutMs' | 'ownOrigins' | 'findCreator' | 'lookup'>
  jobs: SourceJobs
  tokenCounterFor: TokenCounterFor
  textCounterFor: TextCounterFor
  findCreator: FindCreator
  changes: Changes
  counters: Counters
  mailer: Pick<Mailer, 'send'>
  uses: Pick<Uses, 'ofTools'>
}

const memoryProblemOf = ({ totalMb }: Settings['memory']): string | undefined =>
  totalMb >= ENOUGH_MEMORY_MB
    ? undefined
    : `Imports need ${ENOUGH_MEMORY_MB} MB of memory, and this Patchbay has ${totalMb} MB (PATCHBAY_MEMORY_MB).`

/** Removes what readers of processes that have ended left, and what has expired. */
const cleanUp = async (
  { db, files, reader }: { db: Database; files: SourceFiles; reader: ImportReader },
  signal: AbortSignal,
): Promise<void> => {
  for (const id of await listAbandoned(db, Date.now())) await failImport(db, id, READER_STOPPED)
  await removeExpiredImports(db, new Date(), signal)
  const withFiles = [...new Set([...(await files.list()), ...reader.listKept()])]
  const needed = new Set(await listReadable(db, withFiles))
  const checked = new Set((await listRecentlyChecked(db, new Date())).map(checkFolderOf))
  for (const id of withFiles) if (!needed.has(id) && !checked.has(id)) await reader.discard(id)
}

/** Creates the service that imports API descriptions and requests. */
export const importsPlugin = (needs: ImportsNeeds, lifecycle: Lifecycle) => {
  const { db, sealing, logger, settings, network, jobs, tokenCounterFor, textCounterFor, findCreator } = needs
  const { maxImportBytes: maxBytes, maxRedirects } = settings.limits
  const files = createSourceFiles(settings.dataDirectory)
  const client = createHttpClient({ ...network, maxRedirects, maxSockets: MAX_SOCKETS_PER_ORIGIN })
  lifecycle.onClose(client.close)
  const http = fetchFewAtOnce(client, findCreator)
  const inTurn = createTurns(findCreator)
  const reading = { db, sealing, logger, http, jobs, files, maxBytes, inTurn, findCreator, textCounterFor }
  const reader = createImportReader(reading)
  // Closed before the database, which then knows that the sources were not read.
  lifecycle.onClose(reader.close)
  const memoryProblem = memoryProblemOf(settings.memory)
  const readNewest = createNewestReader({ sealing, http, jobs, files, maxBytes, inTurn, memoryProblem })
  const mailQueue = createMailQueue(logger)
  lifecycle.onClose(mailQueue.settle)
  const checks = createSourceChecks({ ...needs, readNewest, mailQueue, baseUrl: settings.baseUrl })
  lifecycle.addChores(
    { name: 'remove old imports', run: signal => cleanUp({ db, files, reader }, signal) },
    { name: 'check sources of toolkits', run: checks.checkDue },
  )
  return {
    imports: createImportService({ ...reading, reader, tokenCounterFor, memoryProblem }),
    importChanges: createImportChanges(needs),
    toolkitSources: createToolkitSources({ ...needs, checks }),
  }
}
