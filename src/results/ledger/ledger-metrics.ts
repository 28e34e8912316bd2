import type { Metric } from '../../lib/process/metrics.ts'
import { TOKEN_ENCODING } from '../../lib/tokens/tokens.ts'
import type { CallLedger, LedgerStats } from './call-ledger.ts'
import type { ToolTotal } from './tool-totals.ts'

/** Lists the token costs of results since the process started, and how many results were counted. */
export const listLedgerMetrics = ({ stats, listTools }: Pick<CallLedger, 'stats' | 'listTools'>): Metric[] => {
  const ofAll = (name: string, help: string, pick: (stats: LedgerStats) => number): Metric => ({
    kind: 'counter',
    name,
    help,
    labelNames: [],
    read: () => [{ labels: {}, value: pick(stats()) }],
  })
  const byTool = (name: string, help: string, pick: (total: ToolTotal) => number): Metric => ({
    kind: 'counter',
    name,
    help,
    labelNames: ['server', 'tool'],
    read: () => listTools().map(one => ({ labels: { server: one.serverId, tool: one.tool }, value: pick(one) })),
  })
  return [
    ofAll(
      'patchbay_ledger_answers_total',
      'Results sent for recorded tool calls.',
      ({ counted, notCounted, waiting }) => counted + notCounted + waiting,
    ),
    ofAll(
      'patchbay_ledger_answers_counted_total',
      `Results in patchbay_ledger_answers_total whose tokens were counted (${TOKEN_ENCODING}) or estimated.`,
      ({ counted }) => counted,
    ),
    ofAll(
      'patchbay_ledger_answers_not_counted_total',
      'Results in patchbay_ledger_answers_total that could not be counted.',
      ({ notCounted }) => notCounted,
    ),
    {
      ...ofAll(
        'patchbay_ledger_answers_waiting',
        'Results in patchbay_ledger_answers_total that are waiting to be counted.',
        ({ waiting }) => waiting,
      ),
      kind: 'gauge',
    },
    byTool(
      'patchbay_answers_counted_total',
      `Results whose tokens were counted (${TOKEN_ENCODING}), by server and tool.`,
      ({ counted }) => counted,
    ),
    byTool(
      'patchbay_answer_tokens_before_total',
      `Tokens (${TOKEN_ENCODING}) of the counted results before anything was left out. Subtract the tokens sent to get the savings.`,
      ({ tokensBefore }) => tokensBefore,
    ),
    byTool(
      'patchbay_answer_tokens_sent_total',
      `Tokens (${TOKEN_ENCODING}) of the counted results as sent.`,
      ({ tokensSent }) => tokensSent,
    ),
    byTool(
      'patchbay_schema_mismatches_total',
      "Counted results that do not match the tool's output schema, by server and tool.",
      ({ mismatches }) => mismatches,
    ),
  ]
}
