export { newExecutionId } from './execution-id.ts'
export type { ExecutionGap, ExecutionRecord, MaskedRequest, Recorder } from './execution-record.ts'
export { createExecutionStore, type StoredExecution } from './executions.store.ts'
export { createRecorder, type RecorderOptions } from './recorder.ts'
