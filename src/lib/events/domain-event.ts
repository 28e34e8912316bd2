import { z } from 'zod'

/** A change that makes cached data stale. Events are sent between processes, so they contain nothing but ids. */
export const DomainEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('toolkit_changed'), toolkitId: z.string() }),
  /** The upstream was created, changed or removed. Its connections are stale. */
  z.object({ type: z.literal('upstream_changed'), upstreamId: z.string(), serverId: z.string() }),
  /** The server changed, or one of its globals, instances, toolkits or upstreams did. */
  z.object({ type: z.literal('server_changed'), serverId: z.string() }),
  z.object({ type: z.literal('server_removed'), serverId: z.string() }),
  /** The user's tokens or memberships changed. */
  z.object({ type: z.literal('access_changed'), userId: z.string() }),
  /** The operator has suspended or restored something. */
  z.object({ type: z.literal('suspensions_changed') }),
  z.object({ type: z.literal('limits_changed'), organizationId: z.string() }),
  /** Events from other processes were missed, so any cache may be stale. */
  z.object({ type: z.literal('resync') }),
])
export type DomainEvent = z.infer<typeof DomainEvent>
