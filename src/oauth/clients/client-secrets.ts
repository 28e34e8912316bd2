import { randomBytes } from 'node:crypto'
import type { SealContext, Sealed, Sealing } from '../../lib/process/sealing.ts'

/** A client that registered itself has no organization. */
type Owner = { organizationId: string | undefined; clientId: string }

/** Binds a client's secret to its row: in another row it cannot be opened. */
const contextOf = ({ organizationId = '', clientId }: Owner): SealContext => ({
  purpose: 'oauth-client',
  ownerId: organizationId,
  name: clientId,
})

const SECRET_BYTES = 32

/** Creates a secret and its sealed form; none for a public client, which cannot keep one. */
export const makeClientSecret = (
  sealing: Pick<Sealing, 'seal'>,
  owner: Owner,
  isPublic: boolean,
): { secret: string | undefined; sealed: Sealed | undefined } => {
  const secret = isPublic ? undefined : randomBytes(SECRET_BYTES).toString('base64url')
  return { secret, sealed: secret === undefined ? undefined : sealing.seal(secret, contextOf(owner)) }
}

/** Throws SealError if the row was altered or moved. */
export const openClientSecret = (sealing: Pick<Sealing, 'open'>, owner: Owner, sealed: Sealed): string =>
  sealing.open(sealed, contextOf(owner))
