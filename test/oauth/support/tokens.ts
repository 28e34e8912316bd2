import { hash, randomBytes, randomUUID } from 'node:crypto'
import type { Services } from '../../../src/services.ts'

export type TokenWish = {
  origin: string
  userId: string
  serverId: string
  scope?: string
  clientId?: string
  /** Milliseconds from now. */
  endsIn?: number
  /** Default: the server's address. */
  audience?: string
  kind?: string
}

/** Inserts a grant of all scopes as the authorization server stores it, without going through the pages. */
export const insertGrant = async (
  { db }: Pick<Services, 'db'>,
  { origin, userId, serverId, clientId = 'some-client', scope = 'mcp:read mcp:call' }: Omit<TokenWish, 'endsIn'>,
): Promise<string> => {
  const id = randomUUID()
  const payload = { kind: 'Grant', accountId: userId, clientId, resources: { [`${origin}/s/${serverId}`]: scope } }
  const owned = { grantId: id, userId, clientId, serverId }
  await db.oAuthArtifact.create({ data: { id, kind: 'Grant', handleHash: hash('sha256', id), payload, ...owned } })
  return id
}

/** Inserts an access token with its own grant. */
export const insertToken = async (
  services: Pick<Services, 'db'>,
  wish: TokenWish,
): Promise<{ token: string; grantId: string }> => {
  const { origin, userId, serverId, scope = 'mcp:read mcp:call', clientId = 'some-client', endsIn = 3_600_000 } = wish
  const grantId = await insertGrant(services, wish)
  const token = randomBytes(32).toString('base64url')
  const endsAt = Date.now() + endsIn
  await services.db.oAuthArtifact.create({
    data: {
      kind: wish.kind ?? 'AccessToken',
      handleHash: hash('sha256', token),
      payload: {
        kind: 'AccessToken',
        accountId: userId,
        clientId,
        grantId,
        aud: wish.audience ?? `${origin}/s/${serverId}`,
        scope,
        exp: endsAt / 1_000,
      },
      grantId,
      userId,
      clientId,
      serverId,
      expiresAt: new Date(endsAt),
    },
  })
  return { token, grantId }
}
