import type { FastifyPluginAsync } from 'fastify'
import { isSameSecret } from '../../identity/credentials.ts'
import type { JobPool } from '../../jobs/job-pool.ts'
import { assertBearer } from '../../lib/http/access.ts'
import type { HttpFailures } from '../../lib/outbound/client.ts'
import { createMetricsText, type Metric } from '../../lib/process/metrics.ts'
import { NOTICE_NAMES, type Notices } from '../../lib/process/notices.ts'
import { TOKEN_ENCODING } from '../../lib/tokens/tokens.ts'
import type { CallLedger } from '../../results/ledger/call-ledger.ts'
import { listLedgerMetrics } from '../../results/ledger/ledger-metrics.ts'
import type { CatalogueReports } from '../servers/catalogue-reports.ts'

/** Maximum number of servers reported. Each has three time series. */
const MAX_SERVERS = 300

/** Returns metrics of the token counts that users have already requested. Does not count anything itself. */
const listCatalogueMetrics = ({ listKnown }: Pick<CatalogueReports, 'listKnown'>): Metric[] => [
  {
    kind: 'gauge',
    name: 'patchbay_catalogue_tokens',
    help: `Tokens (${TOKEN_ENCODING}) of a server's tool list in each presentation, if counted since its last change.`,
    labelNames: ['server', 'presentation'],
    read: () =>
      listKnown(MAX_SERVERS).flatMap(([server, { costs }]) =>
        costs.map(({ presentation, tokens }) => ({ labels: { server, presentation }, value: tokens })),
      ),
  },
]

const noticeMetric = ({ has }: Pick<Notices, 'has'>): Metric => ({
  kind: 'gauge',
  name: 'patchbay_problem',
  help: 'Whether this problem exists at the moment: 1 or 0.',
  labelNames: ['problem'],
  read: () => NOTICE_NAMES.map(problem => ({ labels: { problem }, value: has(problem) ? 1 : 0 })),
})

const listFailureMetrics = ({ listFailing, countRetries }: HttpFailures): Metric[] => [
  {
    kind: 'gauge',
    name: 'patchbay_failing_origins',
    help: 'Origins of APIs to which no calls are sent for now, because they keep failing. Counted for each organization.',
    labelNames: [],
    read: () => [{ labels: {}, value: listFailing().length }],
  },
  {
    kind: 'counter',
    name: 'patchbay_retries_total',
    help: 'Requests of tools that were sent again after a temporary failure.',
    labelNames: [],
    read: () => [{ labels: {}, value: countRetries() }],
  },
]

const listJobMetrics = ({ stats }: Pick<JobPool, 'stats'>): Metric[] => [
  {
    kind: 'gauge',
    name: 'patchbay_jobs',
    help: 'Jobs of the worker threads, by state: running or waiting.',
    labelNames: ['state'],
    read: () => {
      const { running, waiting } = stats()
      return [
        { labels: { state: 'running' }, value: running },
        { labels: { state: 'waiting' }, value: waiting },
      ]
    },
  },
]

type Parts = {
  /** The bearer token that the scraper must send. */
  token: string
  notices: Notices
  callLedger: CallLedger
  catalogueReports: CatalogueReports
  callFailures: HttpFailures
  workers: Pick<JobPool, 'stats'>
}

/** Serves `/metrics` for Prometheus, with the counters of this process. */
export const metricsRoutes: FastifyPluginAsync<Parts> = async (
  app,
  { token, notices, callLedger, catalogueReports, callFailures, workers },
) => {
  const { contentType, render } = createMetricsText([
    noticeMetric(notices),
    ...listFailureMetrics(callFailures),
    ...listJobMetrics(workers),
    ...listLedgerMetrics(callLedger),
    ...listCatalogueMetrics(catalogueReports),
  ])
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    assertBearer(request, reply, { name: 'PATCHBAY_METRICS_TOKEN', isRight: given => isSameSecret(given, token) })
  })
  // Needs no sign-in, because the hook above checks the metrics token.
  app.get('/metrics', { config: { access: 'anyone' } }, async (_request, reply) =>
    reply.type(contentType).send(await render()),
  )
}
