import { once } from '../lib/kernel/once.ts'
import type { LimitedCall } from './call-admission.ts'
import type { Limit, LimitRefusal } from './limit.ts'

/** Refused calls of a caller within a minute after which its requests are refused before they are read. */
const MAX_REFUSED = 60
const WINDOW_SECONDS = 60
/** Maximum time for which the requests of a caller are refused. After it, a call is checked against the limit again. */
const MAX_REFUSED_SECONDS = 60

/** The limit that a caller ignores, and when the caller may try again. */
export type Flood = { limit: Limit; retryAfterSeconds: number }

/** The sender of a request. All anonymous callers of a server count as one. */
type Sender = Pick<LimitedCall, 'organizationId' | 'serverId' | 'userId' | 'tokenId'>

const keyOf = ({ organizationId, serverId, userId, tokenId }: Sender): string =>
  `${organizationId} ${tokenId ?? userId ?? serverId}`

/**
 * Finds callers that keep calling although a limit refuses their calls. Each refused call costs a response and a row of
 * the history, so their requests are refused earlier. `clock` returns milliseconds, monotonic.
 */
export const createFloods = (clock: () => number) => {
  /** Loads the library with the first refused call, because most processes never need it. */
  const loadLimiter = once(async () => {
    const { RateLimiterMemory } = await import('rate-limiter-flexible')
    return new RateLimiterMemory({ points: MAX_REFUSED, duration: WINDOW_SECONDS })
  })
  const refusedUntil = new Map<string, { limit: Limit; until: number }>()

  const sweep = (): void => {
    for (const [key, { until }] of refusedUntil) if (until <= clock()) refusedUntil.delete(key)
  }

  return {
    /** Notes a refused call. */
    note: async (sender: Sender, { limit, retryAfterSeconds }: LimitRefusal): Promise<void> => {
      // One anonymous caller of a tool would shut out all others from the server's other tools.
      if (limit.scope === 'tool' && (sender.tokenId ?? sender.userId) === undefined) return
      const key = keyOf(sender)
      const limiter = await loadLimiter()
      const { consumedPoints } = await limiter.penalty(key)
      if (consumedPoints <= MAX_REFUSED) return
      sweep()
      refusedUntil.set(key, { limit, until: clock() + Math.min(retryAfterSeconds, MAX_REFUSED_SECONDS) * 1_000 })
      await limiter.delete(key)
    },
    /** Returns why a request is refused. Looks at nothing but a map, which is empty unless there is a flood. */
    find: (sender: Sender): Flood | undefined => {
      if (refusedUntil.size === 0) return undefined
      const found = refusedUntil.get(keyOf(sender))
      if (found === undefined || found.until <= clock()) return undefined
      return { limit: found.limit, retryAfterSeconds: Math.ceil((found.until - clock()) / 1_000) }
    },
  }
}
export type Floods = ReturnType<typeof createFloods>
