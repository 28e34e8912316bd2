import { z } from 'zod'
import type { Transaction } from '../platform/db/index.ts'

/** Of what the authorization server stores of an access token, what its use depends on. */
const Payload = z.object({
  aud: z.string(),
  scope: z.string().default(''),
  /** Seconds since 1970. */
  exp: z.number(),
})

/** An access token that was given out, and what its user belongs to. */
export type IssuedToken = {
  id: string
  userId: string
  serverId: string
  grantId: string
  /** The resource it was asked for (RFC 8707). */
  audience: string
  scope: string
  expiresAt: Date
  organizationIds: ReadonlySet<string>
}

/** One query, on the index of the hash. What is stored otherwise than expected is no token. */
export const findIssuedToken = async (tx: Transaction, handleHash: string): Promise<IssuedToken | undefined> => {
  const row = await tx.oAuthArtifact.findUnique({
    where: { kind_handleHash: { kind: 'AccessToken', handleHash } },
    include: { user: { select: { memberships: { select: { organizationId: true } } } } },
  })
  const { success, data } = Payload.safeParse(row?.payload)
  if (row === null || !success || row.userId === null || row.user === null) return undefined
  if (row.serverId === null || row.grantId === null || row.consumedAt !== null) return undefined
  const ends = data.exp * 1_000
  return {
    id: row.id,
    userId: row.userId,
    serverId: row.serverId,
    grantId: row.grantId,
    audience: data.aud,
    scope: data.scope,
    expiresAt: new Date(Math.min(ends, row.expiresAt?.getTime() ?? ends)),
    organizationIds: new Set(row.user.memberships.map(({ organizationId }) => organizationId)),
  }
}
