import { createHistoryCharts, type HistoryChartParts } from './history-charts.ts'

export type CallHistoryParts = HistoryChartParts

/** What users do with many recorded calls at once. Their servers limit which calls they may see. */
export const createCallHistory = (parts: CallHistoryParts) => ({
  ...createHistoryCharts(parts),
})

export type CallHistory = ReturnType<typeof createCallHistory>
