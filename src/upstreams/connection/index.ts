export {
  createUpstreamConnection,
  type UpstreamConnection,
  type UpstreamParts,
} from './connection.ts'
export type { ConnectionLimits } from './connection-limits.ts'
export type { UpstreamClient, UpstreamOffer } from './open-connection.ts'
export { type LogLine, maskSecrets } from './output-log.ts'
export { createStdioProcesses, type StdioProcesses } from './stdio-processes.ts'
export { AccountError, UpstreamError } from './upstream-error.ts'
