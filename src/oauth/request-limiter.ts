import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../kernel/index.ts'
import { createMemoryCounters, networkOf } from '../platform/counters/index.ts'

const WINDOW_MS = 60_000
/** Requests of one address in a minute: many people's clients behind one address come to a few. */
const MAX_REQUESTS = 1_000

/** Coarse, in memory, and so cheaper than what it guards: what strangers can make the database do. */
export const createFloodGate = () => {
  const counters = createMemoryCounters()
  const check = async ({ ip }: FastifyRequest): Promise<void> => {
    const { count, resetsInMs } = await counters.increment(networkOf(ip), WINDOW_MS)
    if (count <= MAX_REQUESTS) return
    throw new AppError('rate_limited', 'Too many requests from this address: try again in a minute.', {
      retryAfterSeconds: Math.ceil(resetsInMs / 1_000),
    })
  }
  return {
    /** Counts every request of the scope. */
    guard: (app: FastifyInstance): void => {
      app.addHook('onRequest', check)
    },
  }
}
export type FloodGate = ReturnType<typeof createFloodGate>
