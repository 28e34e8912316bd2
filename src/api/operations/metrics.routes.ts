import type { FastifyPluginAsync } from 'fastify'
import { isSameSecret } from './accounts/index.ts'
import { type CallLedger, listLedgerMetrics } from './execution/index.ts'
import { type CatalogueReports, listCatalogueMetrics } from './mcp/index.ts'
import { assertBearer } from './platform/http/index.ts'
import { createMetricsText } from './platform/metrics.ts'

type Parts = {
  /** What a scraper shows as its bearer token. */
  token: string
  callLedger: CallLedger
  catalogueReports: CatalogueReports
}

/** `/metrics`, for Prometheus: what this process has counted. */
export const metricsRoutes =
  ({ token, callLedger, catalogueReports }: Parts): FastifyPluginAsync =>
  async app => {
    const { contentType, render } = createMetricsText([
      ...listLedgerMetrics(callLedger),
      ...listCatalogueMetrics(catalogueReports),
    ])
    app.addHook('onRequest', async (request, reply) => {
      reply.header('cache-control', 'no-store')
      assertBearer(request, reply, { name: 'PATCHBAY_METRICS_TOKEN', isRight: given => isSameSecret(given, token) })
    })
    // Of all accounts none is asked for: it has a token of its own.
    app.get('/metrics', { config: { access: 'anyone' } }, async (_request, reply) =>
      reply.type(contentType).send(await render()),
    )
  }
