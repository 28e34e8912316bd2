import { createHistoryCharts, type HistoryChartParts } from './history-charts.ts'
import { createHistoryCount, type HistoryCountParts } from './history-count.ts'
import { createHistoryExport, type HistoryExportParts } from './history-export.ts'
import { createHistoryRemoval, type HistoryRemovalParts } from './history-removal.ts'

export type CallHistoryParts = HistoryChartParts & HistoryCountParts & HistoryExportParts & HistoryRemovalParts

/** What users do with many recorded calls at once. Their servers limit which calls they may see. */
export const createCallHistory = (parts: CallHistoryParts) => ({
  ...createHistoryCharts(parts),
  ...createHistoryExport(parts),
  ...createHistoryCount(parts),
  ...createHistoryRemoval(parts),
})

export type CallHistory = ReturnType<typeof createCallHistory>
