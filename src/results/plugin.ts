import { join } from 'node:path'
import type { Recorder } from '../history/execution-record.ts'
import type { Database } from '../lib/db/client.ts'
import type { EventBus } from '../lib/events/event-bus.ts'
import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Logger } from '../lib/process/logger.ts'
import type { Settings } from '../lib/process/settings.ts'
import type { Job } from '../lib/worker/job.ts'
import { listServersThere } from '../servers/server-names.store.ts'
import type { AnswerJob, AnswerView } from './budget/answer-job.ts'
import { createAnswerWork } from './budget/answer-work.ts'
import { createAnswerKeeping } from './cache/response-cache.ts'
import type { AnswerKeepingOptions } from './cache/cached-result.ts'
import { createAnswerCache } from './cut-cache/cut-cache.ts'
import { createSharedAnswerStore } from './cut-cache/cut-results.store.ts'
import type { AnswerTokens, AnswerTokensJob } from './ledger/answer-tokens-job.ts'
import { createCallLedger } from './ledger/call-ledger.ts'
import { createCallTokens } from './ledger/call-tokens.ts'
import { createAnswerShaper } from './shape/answer-shaper.ts'
import type { ShapingJob, ShapingOutcome } from './shape/shaping-job.ts'

export type ResultsNeeds = {
  db: Database
  bus: EventBus
  logger: Logger
  recorder: Recorder
  countResults: Job<AnswerTokensJob, AnswerTokens>
  inspectResult: Job<AnswerJob, AnswerView | undefined>
  shapeResult: Job<ShapingJob, ShapingOutcome>
  settings: Pick<Settings, 'answerCacheBytes' | 'dataDirectory'>
  /** Limits and clock of the response cache, in place of the usual ones. */
  answerKeeping: AnswerKeepingOptions | undefined
}

export const resultsPlugin = (needs: ResultsNeeds, lifecycle: Lifecycle) => {
  const { db, bus, logger, recorder, settings } = needs

  const callLedger = createCallLedger({
    count: needs.countResults,
    recorder,
    onInternalError: error => logger.error({ err: error }, 'the tokens of a result could not be counted'),
  })
  lifecycle.onClose(callLedger.close)
  bus.subscribe('server_removed', ({ serverId }) => callLedger.forgetServer(serverId))
  bus.subscribe('resync', async () => {
    const known = callLedger.listServers()
    const there = await listServersThere(db, known)
    for (const serverId of known) if (!there.has(serverId)) callLedger.forgetServer(serverId)
  })

  const answers = createAnswerCache({
    directory: join(settings.dataDirectory, 'answers'),
    store: createSharedAnswerStore(db),
    limits: { maxBytes: settings.answerCacheBytes },
    logger,
  })
  lifecycle.onClose(answers.close)
  bus.subscribe('server_removed', ({ serverId }) => answers.dropServer(serverId))
  const reading = createAnswerWork(needs.inspectResult)
  const shaper = createAnswerShaper(needs.shapeResult)

  const keepings = createAnswerKeeping(needs.answerKeeping)
  bus.subscribe('server_changed', ({ serverId }) => keepings.forgetServer(serverId))
  bus.subscribe('server_removed', ({ serverId }) => keepings.forgetServer(serverId))
  bus.subscribe('resync', keepings.forgetAll)

  return { callLedger, callTokens: createCallTokens(db), answers, reading, shaper, answerKeeping: keepings }
}
