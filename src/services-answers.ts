import { join } from 'node:path'
import { createAnswerCache, createAnswerWork, createSharedAnswerStore } from './context/index.ts'
import type { Database } from './platform/db/index.ts'
import type { EventBus } from './platform/events/index.ts'
import type { Logger } from './platform/logger.ts'
import type { Settings } from './platform/settings.ts'

type AnswerServicesParts = {
  settings: Pick<Settings, 'answerCacheBytes' | 'dataDirectory'>
  db: Database
  bus: EventBus
  logger: Logger
}

/** What looks into answers that are too large to be sent, and what keeps them for the calls that go on from them. */
export const buildAnswerServices = ({ settings, db, bus, logger }: AnswerServicesParts) => {
  const reading = createAnswerWork()
  const answers = createAnswerCache({
    directory: join(settings.dataDirectory, 'answers'),
    store: createSharedAnswerStore(db),
    limits: { maxBytes: settings.answerCacheBytes },
    logger,
  })
  bus.subscribe('server_removed', ({ serverId }) => answers.dropServer(serverId))
  return {
    reading,
    answers,
    close: async (): Promise<void> => {
      await reading.close()
      await answers.close()
    },
  }
}
