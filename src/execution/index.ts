export type * from './compiled-server.ts'
export { executionRoutes } from './execution.routes.ts'
export { createExecutionService, type ExecutionService } from './execution.service.ts'
