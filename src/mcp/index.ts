export type { Authorize } from './admission.ts'
export { createMcpRegistry } from './registry.ts'
export { mcpRoutes } from './routes.ts'
