import { createHistoryCharts, type HistoryChartParts } from './history-charts.ts'
import { createHistoryCount } from './history-count.ts'
import { createHistoryExport, type HistoryExportParts } from './history-export.ts'

export type CallHistoryParts = HistoryChartParts & HistoryExportParts

/** What users do with many recorded calls at once. Their servers limit which calls they may see. */
export const createCallHistory = (parts: CallHistoryParts) => ({
  ...createHistoryCharts(parts),
  ...createHistoryExport(parts),
  ...createHistoryCount(parts.db),
})

export type CallHistory = ReturnType<typeof createCallHistory>
