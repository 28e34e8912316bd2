import { writeAudit } from '../../identity/audit/audit.store.ts'
import type { AuditActor } from '../../identity/audit/audit-entry.ts'
import { createSingleFlight } from '../../lib/cache/single-flight.ts'
import type { Changes } from '../../lib/events/changes.ts'
import { removeGrantWithTokens } from './consents.store.ts'

/**
 * Returns a function that revokes a grant with all codes and tokens issued under it. The function
 * does nothing if the grant no longer exists.
 */
export const createRevokeGrant = (changes: Changes) => {
  // The library revokes each kind of token separately, but the grant needs to be revoked only once.
  const flights = createSingleFlight<void>()

  return (grantId: string, reason: 'grant.removed' | 'grant.misused', address: string | undefined): Promise<void> =>
    flights.run(grantId, () =>
      changes.commit(async (tx, announce) => {
        const grant = await removeGrantWithTokens(tx, grantId)
        if (grant === undefined) return
        const { userId, clientId, server } = grant
        // For `grant.removed` the client acts for the user. For `grant.misused` the holder of the token is unknown.
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
      }),
    )
}
