import { z } from 'zod'

/**
 * What happened, for whoever keeps something in memory that it makes stale. It travels between processes, so it holds
 * ids and nothing else.
 */
export const DomainEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('toolkit_changed'), toolkitId: z.string() }),
  /** Made, changed or removed: what was connected for it is out of date. */
  z.object({ type: z.literal('upstream_changed'), upstreamId: z.string(), serverId: z.string() }),
  /** Whatever its router is compiled from: the server itself, its globals, instances, toolkits, upstreams. */
  z.object({ type: z.literal('server_changed'), serverId: z.string() }),
  z.object({ type: z.literal('server_removed'), serverId: z.string() }),
  /** A user's tokens or memberships. */
  z.object({ type: z.literal('access_changed'), userId: z.string() }),
  /** Events of other processes were missed: everything kept in memory may be stale. */
  z.object({ type: z.literal('resync') }),
])
export type DomainEvent = z.infer<typeof DomainEvent>
