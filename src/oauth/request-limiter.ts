import type { FastifyRequest } from 'fastify'
import { createMemoryCounters } from '../lib/db/counters.ts'
import { networkOf } from '../lib/http/network.ts'
import { AppError } from '../lib/kernel/errors.ts'

const WINDOW_MS = 60_000
/** Maximum number of requests per address and minute. Even clients of many users behind one address send far fewer. */
const MAX_REQUESTS = 1_000

/**
 * Creates an `onRequest` hook that rejects excess requests before they reach the database. Counts
 * in memory, because a shared counter would cost as much as the requests.
 */
export const createRequestLimiter = () => {
  const counters = createMemoryCounters()
  return async ({ ip }: FastifyRequest): Promise<void> => {
    const { count, resetsInMs } = await counters.increment(networkOf(ip), WINDOW_MS)
    if (count <= MAX_REQUESTS) return
    throw new AppError('rate_limited', 'Too many requests from this address: try again in a minute.', {
      retryAfterSeconds: Math.ceil(resetsInMs / 1_000),
    })
  }
}
export type RequestLimiter = ReturnType<typeof createRequestLimiter>
