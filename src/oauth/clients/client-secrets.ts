import { randomBytes } from 'node:crypto'
import type { SealContext, Sealed, Sealing } from '../../lib/process/sealing.ts'

/** The owner of a secret. `organizationId` is undefined for a client that registered itself. */
type Owner = { organizationId: string | undefined; clientId: string }

/** Binds a client's secret to its row, so that it cannot be opened in another row. */
const contextOf = ({ organizationId = '', clientId }: Owner): SealContext => ({
  purpose: 'oauth-client',
  ownerId: organizationId,
  name: clientId,
})

const SECRET_BYTES = 32

/** Creates a secret and its sealed form. Both are undefined for a public client, which cannot keep a secret. */
export const makeClientSecret = (
  sealing: Pick<Sealing, 'seal'>,
  owner: Owner,
  isPublic: boolean,
): { secret: string | undefined; sealed: Sealed | undefined } => {
  const secret = isPublic ? undefined : randomBytes(SECRET_BYTES).toString('base64url')
  return { secret, sealed: secret === undefined ? undefined : sealing.seal(secret, contextOf(owner)) }
}

/** Decrypts a client's secret. Throws SealError if the row has been altered or moved. */
export const openClientSecret = (sealing: Pick<Sealing, 'open'>, owner: Owner, sealed: Sealed): string =>
  sealing.open(sealed, contextOf(owner))
