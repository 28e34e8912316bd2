import { userActor } from '../../identity/audit/audit-entry.ts'
import type { AdoptDemoServers } from '../../identity/demo-account.ts'
import { holdings } from '../bindings/holdings.store.ts'
import { accessChange, auditServer } from '../server-audit.ts'
import { findServerOfAnybody, updateServer } from '../servers.store.ts'

/** Gives the demo's servers to the first account and makes them private. Their organization and addresses stay. */
export const adoptDemoServers: AdoptDemoServers = async (tx, announce, { organizationId, demoId, owner, address }) => {
  const actor = address === undefined ? undefined : userActor(owner, address)
  const ownerChange = { ownerId: { from: demoId, to: owner.id } }
  for (const serverId of await holdings.giveServers(tx, { organizationId, from: demoId, to: owner.id })) {
    const before = await findServerOfAnybody(tx, serverId)
    if (before === undefined) continue // It is being removed.
    const after = await updateServer(tx, before, { access: 'private', allowAnyOrigin: false })
    await auditServer(tx, actor, 'server.transferred', after, ownerChange)
    const access = accessChange(before, after)
    if (access !== undefined) await auditServer(tx, actor, 'server.access_changed', after, access)
    announce({ type: 'server_changed', serverId })
  }
}
