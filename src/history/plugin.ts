import type { Database } from '../lib/db/client.ts'
import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Logger } from '../lib/process/logger.ts'
import type { Settings } from '../lib/process/settings.ts'
import { createRecorder } from './recorder.ts'
import { removeOldToolDays } from './tool-days.store.ts'

export type HistoryNeeds = { db: Database; logger: Logger; settings: Pick<Settings, 'database'> }

export const historyPlugin = ({ db, logger, settings }: HistoryNeeds, lifecycle: Lifecycle) => {
  const recorder = createRecorder({ target: settings.database, logger })
  lifecycle.onClose(recorder.close)
  lifecycle.addChores({
    name: 'remove old sums of tokens',
    run: signal => removeOldToolDays(db, new Date(), signal),
  })
  return { recorder }
}
