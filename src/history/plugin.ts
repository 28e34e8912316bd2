import type { Database } from '../lib/db/client.ts'
import type { DatabaseHealth } from '../lib/db/health.ts'
import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Logger } from '../lib/process/logger.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import type { Settings } from '../lib/process/settings.ts'
import { createRecorder } from './recorder.ts'
import type { MissingReason } from './recording-batch.ts'
import { removeOldSends } from './response-sizes.store.ts'
import { removeOldToolDays } from './tool-days.store.ts'
import { createHistoryUpkeep } from './upkeep/history-upkeep.ts'

export type HistoryNeeds = {
  db: Database
  databaseHealth: Pick<DatabaseHealth, 'check' | 'report'>
  logger: Logger
  sealing: Pick<Sealing, 'seal'>
  settings: Pick<Settings, 'database' | 'memory'>
}

export const historyPlugin = (
  { db, databaseHealth, logger, sealing, settings }: HistoryNeeds,
  lifecycle: Lifecycle,
) => {
  const onFailure = (reason: MissingReason, message: string): void => {
    if (reason === 'the database was full') databaseHealth.report('unwritable', message)
    else if (reason === 'the database was damaged') databaseHealth.report('damaged', message)
    else if (reason === 'the database was unavailable') void databaseHealth.check()
  }
  const recorder = createRecorder({
    target: settings.database,
    logger,
    sealing,
    onFailure,
    maxQueuedBytes: settings.memory.recordBytes,
  })
  lifecycle.onClose(recorder.close)
  const historyUpkeep = createHistoryUpkeep({ db, recorder })
  lifecycle.addChores(
    { name: 'remove old sums of tokens', run: signal => removeOldToolDays(db, new Date(), signal) },
    { name: 'set the organization of calls', run: historyUpkeep.fill },
    { name: 'set the organization of calls of moved servers', run: historyUpkeep.moveCalls },
    {
      name: 'remove calls beyond the limits of organizations',
      run: signal => historyUpkeep.removeOldCalls(new Date(), signal),
    },
    { name: 'remove old sums of calls', run: signal => historyUpkeep.removeOldSums(new Date(), signal) },
    { name: 'remove old sizes of responses', run: signal => removeOldSends(db, new Date(), signal) },
  )
  return { recorder, historyUpkeep }
}
