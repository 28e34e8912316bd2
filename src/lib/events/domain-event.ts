import { z } from 'zod'

/** A change that makes cached data stale. Events are sent between processes, so they contain only ids. */
export const DomainEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('toolkit_changed'), toolkitId: z.string() }),
  /** The upstream was created, changed or removed, so its connections are stale. */
  z.object({ type: z.literal('upstream_changed'), upstreamId: z.string(), serverId: z.string() }),
  /** The server changed, or one of its globals, instances, toolkits or upstreams. */
  z.object({ type: z.literal('server_changed'), serverId: z.string() }),
  z.object({ type: z.literal('server_removed'), serverId: z.string() }),
  /** The user's tokens or memberships changed. */
  z.object({ type: z.literal('access_changed'), userId: z.string() }),
  /** Events from other processes were missed, so every cache may be stale. */
  z.object({ type: z.literal('resync') }),
])
export type DomainEvent = z.infer<typeof DomainEvent>
