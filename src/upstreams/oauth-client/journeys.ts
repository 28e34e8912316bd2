import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Sealed, Sealing } from '../../lib/process/sealing.ts'
import type { Holder } from './account.ts'
import { Journey } from './connecting.ts'

/** How long somebody may take at an authorization server. */
const JOURNEY_MS = 10 * 60_000
/** Begun in one browser at once: the oldest go. */
const MAX_JOURNEYS = 5

/** Who began it, and whose account it is to be: what they agreed to, whatever the upstream is changed to meanwhile. */
export type JourneyKey = { state: string; userId: string; upstreamId: string; holder: Holder }

/** One that is under way: `state` is what it is known by when it comes back (RFC 6749 §10.12). */
type Kept = JourneyKey & { sealed: Sealed; endsAt: number }

declare module 'fastify' {
  interface Session {
    /** Browsers of this session that are away at authorization servers of upstreams. */
    upstreamJourneys?: Kept[]
  }
}

export type Returned = { upstreamId: string; holder: Holder; journey: Journey }

export const makeState = (): string => randomBytes(32).toString('base64url')

const contextOf = ({ state, userId, upstreamId, holder }: JourneyKey) => ({
  purpose: 'upstream journey',
  ownerId: userId,
  name: JSON.stringify([upstreamId, state, holder]),
})

/** Journeys of the session's user: sealed, since the session lies in the database. */
export const createJourneys = (sealing: Sealing, now: () => number) => ({
  keep: (request: FastifyRequest, key: JourneyKey, journey: Journey): void => {
    const { session } = request
    const sealed = sealing.seal(JSON.stringify(journey), contextOf(key))
    const others = (session.upstreamJourneys ?? []).filter(({ endsAt }) => endsAt > now())
    session.upstreamJourneys = [...others, { ...key, sealed, endsAt: now() + JOURNEY_MS }].slice(-MAX_JOURNEYS)
  },

  /** The journey that this browser is back from, once; undefined: none was begun in it by this user, or it took too long. */
  take: async (request: FastifyRequest, state: string, userId: string): Promise<Returned | undefined> => {
    const { session } = request
    const all = session.upstreamJourneys ?? []
    const found = all.find(kept => kept.state === state)
    if (found === undefined) return undefined
    session.upstreamJourneys = all.filter(kept => kept !== found)
    // Before anybody is asked, not only with the answer: it is good once.
    await session.save()
    if (found.userId !== userId || found.endsAt <= now()) return undefined
    try {
      const plain: unknown = z.json().parse(JSON.parse(sealing.open(found.sealed, contextOf(found))))
      return { upstreamId: found.upstreamId, holder: found.holder, journey: Journey.parse(plain) }
    } catch {
      // By a key that is not held any more.
      return undefined
    }
  },
})

export type Journeys = ReturnType<typeof createJourneys>
