import type { Metric } from '../../lib/process/metrics.ts'
import { TOKEN_ENCODING } from '../../lib/tokens/tokens.ts'
import type { CallLedger, LedgerStats } from './call-ledger.ts'
import type { ToolTotal } from './tool-totals.ts'

const BY_TOOL = ['server', 'tool']

/** Lists the token costs of results since the process started, and how many results were counted. */
export const listLedgerMetrics = ({ stats, listTools }: Pick<CallLedger, 'stats' | 'listTools'>): Metric[] => {
  const ofAll = (pick: (stats: LedgerStats) => number) => () => [{ labels: {}, value: pick(stats()) }]
  const byTool = (pick: (total: ToolTotal) => number) => () =>
    listTools().map(total => ({ labels: { server: total.serverId, tool: total.tool }, value: pick(total) }))
  return [
    {
      kind: 'counter',
      name: 'patchbay_ledger_answers_total',
      help: 'Results sent for recorded tool calls.',
      labelNames: [],
      read: ofAll(({ counted, notCounted, waiting }) => counted + notCounted + waiting),
    },
    {
      kind: 'counter',
      name: 'patchbay_ledger_answers_counted_total',
      help: `Of patchbay_ledger_answers_total, the results whose tokens were counted (${TOKEN_ENCODING}) or estimated.`,
      labelNames: [],
      read: ofAll(({ counted }) => counted),
    },
    {
      kind: 'counter',
      name: 'patchbay_ledger_answers_not_counted_total',
      help: 'Of patchbay_ledger_answers_total, the results whose count failed.',
      labelNames: [],
      read: ofAll(({ notCounted }) => notCounted),
    },
    {
      kind: 'gauge',
      name: 'patchbay_ledger_answers_waiting',
      help: 'Of patchbay_ledger_answers_total, the results that wait to be counted.',
      labelNames: [],
      read: ofAll(({ waiting }) => waiting),
    },
    {
      kind: 'counter',
      name: 'patchbay_answers_counted_total',
      help: `Results whose tokens were counted (${TOKEN_ENCODING}), by server and tool.`,
      labelNames: BY_TOOL,
      read: byTool(({ counted }) => counted),
    },
    {
      kind: 'counter',
      name: 'patchbay_answer_tokens_before_total',
      help: `Tokens (${TOKEN_ENCODING}) of the counted results before anything was left out. Minus the tokens sent, this is the saving.`,
      labelNames: BY_TOOL,
      read: byTool(({ tokensBefore }) => tokensBefore),
    },
    {
      kind: 'counter',
      name: 'patchbay_answer_tokens_sent_total',
      help: `Tokens (${TOKEN_ENCODING}) of the counted results as sent.`,
      labelNames: BY_TOOL,
      read: byTool(({ tokensSent }) => tokensSent),
    },
  ]
}
