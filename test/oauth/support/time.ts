import { z } from 'zod'
import type { OAuthWorld } from './world.ts'

export const SECOND_MS = 1_000
export const HOUR_MS = 60 * 60 * SECOND_MS
export const DAY_MS = 24 * HOUR_MS

const Payload = z.looseObject({ iat: z.number().optional(), exp: z.number().optional() })

const earlier = (at: Date | null, ms: number): Date | null => (at === null ? null : new Date(at.getTime() - ms))

/** Ages all data of the authorization server by this much, as if the time had passed. */
export const letTimePass = async ({ services }: OAuthWorld, ms: number): Promise<void> => {
  const { db } = services
  for (const row of await db.oAuthArtifact.findMany()) {
    const { iat, exp, ...rest } = Payload.parse(row.payload)
    const times = { iat: iat && iat - ms / SECOND_MS, exp: exp && exp - ms / SECOND_MS }
    const { expiresAt, consumedAt, lastUsedAt, createdAt } = row
    await db.oAuthArtifact.update({
      where: { id: row.id },
      data: {
        payload: JSON.parse(JSON.stringify({ ...rest, ...times })),
        expiresAt: earlier(expiresAt, ms),
        consumedAt: earlier(consumedAt, ms),
        lastUsedAt: earlier(lastUsedAt, ms),
        createdAt: new Date(createdAt.getTime() - ms),
      },
    })
  }
  for (const { id, createdAt, lastUsedAt } of await db.oAuthClient.findMany()) {
    const data = { createdAt: new Date(createdAt.getTime() - ms), lastUsedAt: earlier(lastUsedAt, ms) }
    await db.oAuthClient.update({ where: { id }, data })
  }
}

/** Clears the token cache, as a few seconds would. This also rechecks open streams. */
export const forgetTokens = ({ services }: OAuthWorld): Promise<void> => services.bus.publish({ type: 'resync' })
