import type { Transaction } from '../lib/db/client.ts'
import { type Actor, assertMay, organizationIdsOf } from '../lib/kernel/actor.ts'
import type { Permission } from '../lib/kernel/roles.ts'
import type { Upstream } from './upstream.ts'
import { noUpstream } from './upstream-refusals.ts'
import { findUpstream } from './upstreams.store.ts'

/** Throws if the actor lacks the permission. Throws `not_found` for a server of another organization. */
export type GetServerFor<Server> = (
  tx: Transaction,
  actor: Actor,
  serverId: string,
  permission: Permission,
) => Promise<Server>

/** Returns an upstream and its server. Throws the same errors as `GetServerFor`. */
export const getUpstreamFor = async <Server>(
  getServerFor: GetServerFor<Server>,
  tx: Transaction,
  actor: Actor,
  id: string,
  permission: Permission,
): Promise<{ upstream: Upstream; server: Server }> => {
  const found = await findUpstream(tx, id, organizationIdsOf(actor))
  if (found === undefined) throw noUpstream()
  assertMay(actor, found.organizationId, permission)
  return { upstream: found.upstream, server: await getServerFor(tx, actor, found.upstream.serverId, permission) }
}
