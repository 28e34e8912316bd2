import type { Metric } from '../../lib/process/metrics.ts'
import { TOKEN_ENCODING } from '../../lib/tokens/tokens.ts'
import type { CatalogueReports } from '../servers/reports.ts'

/** Servers whose lists are told of: each is three series for whoever collects them. */
const MAX_SERVERS = 300

/** What lists of tools cost, as far as somebody has had them counted: nothing is counted for this. */
export const listCatalogueMetrics = ({ listKnown }: Pick<CatalogueReports, 'listKnown'>): Metric[] => [
  {
    kind: 'gauge',
    name: 'patchbay_catalogue_tokens',
    help: `Tokens (${TOKEN_ENCODING}) of a server's list of tools in each presentation, where they were counted since it changed.`,
    labelNames: ['server', 'presentation'],
    read: () =>
      listKnown(MAX_SERVERS).flatMap(([server, { costs }]) =>
        costs.map(({ presentation, tokens }) => ({ labels: { server, presentation }, value: tokens })),
      ),
  },
]
