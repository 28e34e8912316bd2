import { type AuditActor, writeAudit } from '../platform/audit/index.ts'
import type { Changes } from '../platform/events/index.ts'
import { removeGrantWhole } from './consents.store.ts'

export type RevocationReason = 'grant.removed' | 'grant.misused'

/** Takes grants back, with every code and token given out by them. A grant that is gone is nothing to do. */
export const createRevocations = (changes: Changes) => {
  // The library asks for each kind of token by itself, all at once.
  const underWay = new Map<string, Promise<void>>()

  const remove = (grantId: string, reason: RevocationReason, address: string | undefined): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const grant = await removeGrantWhole(tx, grantId)
      if (grant === undefined) return
      const { userId, clientId, server } = grant
      // Done by the client in the user's name, or by whoever holds what was the client's.
      const actor: AuditActor = {
        ...(reason === 'grant.removed' && userId !== null && { userId }),
        ...(address !== undefined && { address }),
      }
      await writeAudit(tx, {
        action: reason,
        actor,
        organizationId: server?.organizationId,
        target: { type: 'grant', id: grantId, name: clientId ?? undefined },
        change: { userId, clientId, serverId: server?.id ?? null },
      })
      if (userId !== null) announce({ type: 'access_changed', userId })
    })

  return {
    revokeGrant: (grantId: string, reason: RevocationReason, address?: string): Promise<void> => {
      const known = underWay.get(grantId)
      if (known !== undefined) return known
      const removal = remove(grantId, reason, address).finally(() => underWay.delete(grantId))
      underWay.set(grantId, removal)
      return removal
    },
  }
}
export type Revocations = ReturnType<typeof createRevocations>
