import { createHistoryCharts, type HistoryChartParts } from './history-charts.ts'
import { createHistoryCount, type HistoryCountParts } from './history-count.ts'
import { createHistoryExport, type HistoryExportParts } from './history-export.ts'
import { createHistoryRemoval, type HistoryRemovalParts } from './history-removal.ts'

export type CallHistoryParts = HistoryChartParts & HistoryCountParts & HistoryExportParts & HistoryRemovalParts

/** Charts, exports, counts and deletes the calls of a place that the actor may see. */
export const createCallHistory = (parts: CallHistoryParts) => ({
  ...createHistoryCharts(parts),
  ...createHistoryExport(parts),
  ...createHistoryCount(parts),
  ...createHistoryRemoval(parts),
})

export type CallHistory = ReturnType<typeof createCallHistory>
