export {
  type CallFigureStore,
  type ClientCalls,
  createCallFigureStore,
  type HourFigures,
  type ServerCallCounts,
  type ServerCallFigures,
} from './call-figures.store.ts'
export { newExecutionId } from './execution-id.ts'
export type { ExecutionGap, ExecutionRecord, ExecutionTokens, MaskedRequest, Recorder } from './execution-record.ts'
export { countExecutions, createExecutionStore, type StoredExecution } from './executions.store.ts'
export { removeHistoryOf } from './history-removal.store.ts'
export { createRecorder, type RecorderOptions } from './recorder.ts'
export {
  createToolDayStore,
  type DayRange,
  type DaySums,
  dayOf,
  removeOldToolDays,
  type TokenSums,
  type ToolSums,
} from './tool-days.store.ts'
export { listServerUsage, type ServerUsage } from './usage.store.ts'
