import { readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Recorder } from '../history/execution-record.ts'
import type { Database } from '../lib/db/client.ts'
import type { EventBus } from '../lib/events/event-bus.ts'
import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Logger } from '../lib/process/logger.ts'
import type { Settings } from '../lib/process/settings.ts'
import type { Job } from '../lib/worker/job.ts'
import { filterExistingServerIds } from '../servers/server-names.store.ts'
import { createExactCounts } from './budget/exact-counts.ts'
import type { InspectionJob, InspectionView } from './budget/inspection-job.ts'
import { createResultInspector } from './budget/result-inspector.ts'
import { createResponseCache, type ResponseCacheOptions } from './cache/response-cache.ts'
import { createCutCache } from './cut-cache/cut-cache.ts'
import { createCutResultStore } from './cut-cache/cut-results.store.ts'
import { createCallLedger } from './ledger/call-ledger.ts'
import { createCallTokens } from './ledger/call-tokens.ts'
import { createLongMaskingFor, type MaskingJobs } from './mask/masking-job.ts'
import { createResultShaper } from './shape/result-shaper.ts'
import type { ShapingJob, ShapingOutcome } from './shape/shaping-job.ts'

export type ResultsNeeds = {
  db: Database
  bus: EventBus
  logger: Logger
  recorder: Recorder
  countTexts: Job<readonly string[], number[]>
  masking: MaskingJobs
  inspectResult: Job<InspectionJob, InspectionView | undefined>
  shapeResult: Job<ShapingJob, ShapingOutcome>
  settings: Pick<Settings, 'memory' | 'dataDirectory'>
  /** Overrides the limits and the clock of the response cache. */
  responseCache: ResponseCacheOptions | undefined
}

/** Maximum size of a stored result whose tokens are counted exactly, in all and as a share of the responses in memory. */
const MAX_COUNTED_BYTES = 16 * 1_024 * 1_024
const COUNTED_SHARE = 1 / 4

/** Matches the folders in which earlier versions stored cut results in the data folder. */
const OLD_CACHE_FOLDER = /^([0-9a-f]{16}|none)-\d+-\d+-[0-9a-f-]{36}$/

const removeOldCacheFiles = async (directory: string): Promise<void> => {
  for (const name of await readdir(directory).catch(() => [])) {
    if (OLD_CACHE_FOLDER.test(name)) await rm(join(directory, name), { recursive: true, force: true }).catch(() => {})
  }
  // Intentionally fails if the folder contains anything else.
  await rmdir(directory).catch(() => {})
}

export const resultsPlugin = (needs: ResultsNeeds, lifecycle: Lifecycle) => {
  const { db, bus, logger, recorder, settings } = needs

  const callLedger = createCallLedger({
    countTexts: needs.countTexts,
    recorder,
    onInternalError: error => logger.error({ err: error }, 'the tokens of a result could not be counted'),
  })
  bus.subscribe('server_removed', ({ serverId }) => callLedger.forgetServer(serverId))
  bus.subscribe('resync', async () => {
    const known = callLedger.listServers()
    const there = await filterExistingServerIds(db, known)
    for (const serverId of known) if (!there.has(serverId)) callLedger.forgetServer(serverId)
  })

  const cutCache = createCutCache({
    store: createCutResultStore(db),
    limits: { maxBytes: settings.memory.cutResultBytes },
    logger,
  })
  lifecycle.onClose(cutCache.close)
  bus.subscribe('server_removed', ({ serverId }) => cutCache.delete(serverId))
  const inspector = createResultInspector(needs.inspectResult, settings.memory.inFlightBytes)
  const exactCounts = createExactCounts({
    countTexts: needs.countTexts,
    cutCache,
    quietMs: inspector.quietMs,
    maxBytes: Math.min(MAX_COUNTED_BYTES, settings.memory.inFlightBytes * COUNTED_SHARE),
    onInternalError: error => logger.error({ err: error }, 'the tokens of a stored result could not be counted'),
  })
  lifecycle.onClose(exactCounts.close)
  void removeOldCacheFiles(join(settings.dataDirectory, 'answers'))
  const shaper = createResultShaper(needs.shapeResult)

  const responseCache = createResponseCache({
    ...needs.responseCache,
    limits: { maxBytes: settings.memory.cachedResponseBytes, ...needs.responseCache?.limits },
  })
  bus.subscribe('server_changed', ({ serverId }) => responseCache.deleteServer(serverId))
  bus.subscribe('server_removed', ({ serverId }) => responseCache.deleteServer(serverId))
  bus.subscribe('resync', responseCache.clear)

  const longMaskingFor = createLongMaskingFor(needs.masking)
  const callTokens = createCallTokens(db)
  return { callLedger, callTokens, cutCache, exactCounts, inspector, shaper, longMaskingFor, responseCache }
}
