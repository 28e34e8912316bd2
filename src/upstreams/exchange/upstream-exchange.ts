import type { UpstreamConnections } from '../upstream-connections.ts'
import { createResourceSubscriptions } from './resource-subscriptions.ts'
import { createUpstreamLogs } from './upstream-logs.ts'

/** What passes between upstreams and clients beside requests and their answers. */
export const createUpstreamExchange = (connections: UpstreamConnections) => {
  const subscriptions = createResourceSubscriptions(connections)
  return {
    logs: createUpstreamLogs(connections),
    subscriptions,
    close: (): void => subscriptions.close(),
  }
}
export type UpstreamExchange = ReturnType<typeof createUpstreamExchange>
