import type { FastifyPluginAsync } from 'fastify'
import { isSameSecret } from '../../identity/credentials.ts'
import { assertBearer } from '../../lib/http/access.ts'
import { createMetricsText } from '../../lib/process/metrics.ts'
import type { CallLedger } from '../../results/ledger/call-ledger.ts'
import { listLedgerMetrics } from '../../results/ledger/ledger-metrics.ts'
import type { CatalogueReports } from '../servers/catalogue-reports.ts'
import { listCatalogueMetrics } from './catalogue-metrics.ts'

type Parts = {
  /** Bearer token expected from the scraper. */
  token: string
  callLedger: CallLedger
  catalogueReports: CatalogueReports
}

/** `/metrics` for Prometheus, with the counters of this process. */
export const metricsRoutes: FastifyPluginAsync<Parts> = async (app, { token, callLedger, catalogueReports }) => {
  const { contentType, render } = createMetricsText([
    ...listLedgerMetrics(callLedger),
    ...listCatalogueMetrics(catalogueReports),
  ])
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    assertBearer(request, reply, { name: 'PATCHBAY_METRICS_TOKEN', isRight: given => isSameSecret(given, token) })
  })
  // Open to anyone, because the hook above checks its own token.
  app.get('/metrics', { config: { access: 'anyone' } }, async (_request, reply) =>
    reply.type(contentType).send(await render()),
  )
}
