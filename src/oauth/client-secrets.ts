import type { SealContext, Sealed, Sealing } from '../platform/sealing.ts'

/** What the secret of a client that an organization registered is bound to: in another row it does not open. */
const contextOf = (organizationId: string, clientId: string): SealContext => ({
  purpose: 'oauth-client',
  ownerId: organizationId,
  name: clientId,
})

export const sealClientSecret = (
  sealing: Pick<Sealing, 'seal'>,
  { organizationId, clientId }: { organizationId: string; clientId: string },
  secret: string,
): Sealed => sealing.seal(secret, contextOf(organizationId, clientId))

/** Throws SealError where the row was altered or moved. */
export const openClientSecret = (
  sealing: Pick<Sealing, 'open'>,
  { organizationId, clientId }: { organizationId: string; clientId: string },
  sealed: Sealed,
): string => sealing.open(sealed, contextOf(organizationId, clientId))
