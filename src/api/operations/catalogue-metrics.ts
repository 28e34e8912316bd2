import type { Metric } from '../../lib/process/metrics.ts'
import { TOKEN_ENCODING } from '../../lib/tokens/tokens.ts'
import type { CatalogueReports } from '../servers/catalogue-reports.ts'

/** Most servers reported; each has three time series. */
const MAX_SERVERS = 300

/** Metrics of the token counts that were already requested. Counts nothing itself. */
export const listCatalogueMetrics = ({ listKnown }: Pick<CatalogueReports, 'listKnown'>): Metric[] => [
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
