import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Sealed, Sealing } from '../../lib/process/sealing.ts'
import type { Holder } from './account.ts'
import { PendingAuthorization } from './connect-account.ts'

/** Time limit for the user to complete an authorization. */
const LIFETIME_MS = 10 * 60_000
/** Maximum pending authorizations per session. Starting another one drops the oldest. */
const MAX_PENDING = 5

/**
 * Identifies one authorization. `holder` is the owner of the account, as the user agreed to it; the upstream's settings
 * may change in the meantime.
 */
export type AuthorizationKey = { state: string; userId: string; upstreamId: string; holder: Holder }

/** `state` identifies the authorization in the response (RFC 6749 §10.12). */
type SealedAuthorization = AuthorizationKey & { sealed: Sealed; endsAt: number }

declare module 'fastify' {
  interface Session {
    /** Authorizations that this session has started at upstreams' authorization servers. */
    upstreamJourneys?: SealedAuthorization[]
  }
}

export type AuthorizationResult = { upstreamId: string; holder: Holder; authorization: PendingAuthorization }

export const createState = (): string => randomBytes(32).toString('base64url')

const contextOf = ({ state, userId, upstreamId, holder }: AuthorizationKey) => ({
  purpose: 'upstream journey',
  ownerId: userId,
  name: JSON.stringify([upstreamId, state, holder]),
})

/** Stores authorizations in the user's session. They are encrypted, because sessions are stored in the database. */
export const createPendingAuthorizations = (sealing: Sealing) => ({
  save: (request: FastifyRequest, key: AuthorizationKey, authorization: PendingAuthorization): void => {
    const { session } = request
    const sealed = sealing.seal(JSON.stringify(authorization), contextOf(key))
    const others = (session.upstreamJourneys ?? []).filter(({ endsAt }) => endsAt > Date.now())
    session.upstreamJourneys = [...others, { ...key, sealed, endsAt: Date.now() + LIFETIME_MS }].slice(-MAX_PENDING)
  },

  /** Removes and returns the authorization. Undefined if this user did not start it in this browser, or it expired. */
  take: async (request: FastifyRequest, state: string, userId: string): Promise<AuthorizationResult | undefined> => {
    const { session } = request
    const all = session.upstreamJourneys ?? []
    const found = all.find(saved => saved.state === state)
    if (found === undefined) return undefined
    session.upstreamJourneys = all.filter(saved => saved !== found)
    // Save the session before the code is exchanged, so that the code cannot be used twice.
    await session.save()
    if (found.userId !== userId || found.endsAt <= Date.now()) return undefined
    try {
      const authorization = PendingAuthorization.parse(JSON.parse(sealing.open(found.sealed, contextOf(found))))
      return { upstreamId: found.upstreamId, holder: found.holder, authorization }
    } catch {
      // The master key that sealed the authorization was removed.
      return undefined
    }
  },
})

export type PendingAuthorizations = ReturnType<typeof createPendingAuthorizations>
