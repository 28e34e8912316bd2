import type { SealContext, Sealed, Sealing } from '../../lib/process/sealing.ts'

/** A client that registered itself has no organization. */
type Owner = { organizationId: string | undefined; clientId: string }

/** Binds a client's secret to its row: in another row it cannot be opened. */
const contextOf = ({ organizationId = '', clientId }: Owner): SealContext => ({
  purpose: 'oauth-client',
  ownerId: organizationId,
  name: clientId,
})

export const sealClientSecret = (sealing: Pick<Sealing, 'seal'>, owner: Owner, secret: string): Sealed =>
  sealing.seal(secret, contextOf(owner))

/** Throws SealError if the row was altered or moved. */
export const openClientSecret = (sealing: Pick<Sealing, 'open'>, owner: Owner, sealed: Sealed): string =>
  sealing.open(sealed, contextOf(owner))
