export type { RecorderLogger } from './batch-delivery.ts'
export { newExecutionId } from './execution-id.ts'
export type { ExecutionGap, ExecutionRecord, MaskedRequest, Recorder } from './execution-record.ts'
export {
  createExecutionStore,
  type ExecutionQuery,
  type ExecutionStore,
  type StoredExecution,
} from './executions.store.ts'
export { createRecorder, type RecorderOptions } from './recorder.ts'
