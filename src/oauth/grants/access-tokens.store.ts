import { z } from 'zod'
import type { Transaction } from '../../lib/db/client.ts'

/** The fields of a stored access token that determine what it allows. */
const Payload = z.object({
  aud: z.string(),
  scope: z.string().default(''),
  /** Seconds since 1970. */
  exp: z.number(),
})

/**
 * Finds a token by its hash, together with its user's roles, in one indexed query. Ignores tokens that are
 * stored in an unexpected form.
 */
export const findIssuedToken = async (tx: Transaction, handleHash: string) => {
  const row = await tx.oAuthArtifact.findUnique({
    where: { kind_handleHash: { kind: 'AccessToken', handleHash } },
    include: { user: { select: { memberships: { select: { organizationId: true, role: true } } } } },
  })
  const { success, data } = Payload.safeParse(row?.payload)
  if (row === null || !success || row.userId === null || row.user === null) return undefined
  if (row.serverId === null || row.grantId === null || row.consumedAt !== null) return undefined
  const ends = data.exp * 1_000
  return {
    tokenId: row.id,
    userId: row.userId,
    serverId: row.serverId,
    grantId: row.grantId,
    /** The resource for which the token was requested (RFC 8707). */
    audience: data.aud,
    scope: data.scope,
    expiresAt: new Date(Math.min(ends, row.expiresAt?.getTime() ?? ends)),
    memberships: new Map(row.user.memberships.map(({ organizationId, role }) => [organizationId, role])),
  }
}
export type IssuedToken = NonNullable<Awaited<ReturnType<typeof findIssuedToken>>>
