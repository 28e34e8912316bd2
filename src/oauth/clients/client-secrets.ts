import type { SealContext, Sealed, Sealing } from '../platform/sealing.ts'

/** A client that registered itself belongs to no organization. */
type Owner = { organizationId: string | undefined; clientId: string }

/** What a client's secret is bound to: in another row it does not open. */
const contextOf = ({ organizationId = '', clientId }: Owner): SealContext => ({
  purpose: 'oauth-client',
  ownerId: organizationId,
  name: clientId,
})

export const sealClientSecret = (sealing: Pick<Sealing, 'seal'>, owner: Owner, secret: string): Sealed =>
  sealing.seal(secret, contextOf(owner))

/** Throws SealError where the row was altered or moved. */
export const openClientSecret = (sealing: Pick<Sealing, 'open'>, owner: Owner, sealed: Sealed): string =>
  sealing.open(sealed, contextOf(owner))
