import type { FastifyRequest } from 'fastify'
import { createMemoryCounters } from '../lib/db/counters.ts'
import { networkOf } from '../lib/http/network.ts'
import { AppError } from '../lib/kernel/errors.ts'

const WINDOW_MS = 60_000
/** Requests per address and minute. Many users' clients behind one address make far fewer. */
const MAX_REQUESTS = 1_000

/**
 * Creates an `onRequest` hook that limits requests before they reach the database. Counts in memory, so the check is
 * cheaper than what it protects.
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
