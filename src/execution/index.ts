export type * from './compiled-server.ts'
export { isLongText } from './compiled-server.ts'
export { executionRoutes } from './execution.routes.ts'
export { createExecutionService } from './execution.service.ts'
