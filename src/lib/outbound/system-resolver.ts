import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '../cache/single-flight.ts'
import { once } from '../kernel/once.ts'
import { failure, type Result, success } from '../kernel/result.ts'
import type { StopSignal } from '../kernel/stop-signal.ts'
import { createFairQueue, type Tenant } from '../worker/fair-queue.ts'

/** Maximum names that wait for the system's resolver, in total and per organization. */
const MAX_WAITING = 500
const MAX_WAITING_PER_ORGANIZATION = 50
const MAX_CACHED_NAMES = 10_000
/** getaddrinfo does not return how long its results are valid. */
const CACHE_MS = 5_000

/** Returns the addresses of a name. Rejects with an error of getaddrinfo. */
type GetAddresses = (name: string) => Promise<LookupAddress[]>
type Outcome = Result<LookupAddress[], Error>

/**
 * Limits the use of getaddrinfo, which knows names that no name server knows. It blocks one of libuv's four threads,
 * which files and password hashes need too, for as long as a name server is silent, and cannot be cancelled.
 */
export const createSystemResolver = (getAddresses: GetAddresses = name => lookup(name, { all: true })) => {
  const queue = createFairQueue({
    maxRunning: 2,
    maxRunningOfOwner: 1,
    maxRunningOfGroup: 1,
    maxWaiting: MAX_WAITING,
    maxWaitingOfOwner: MAX_WAITING_PER_ORGANIZATION,
    maxWaitingOfGroup: MAX_WAITING_PER_ORGANIZATION,
  })
  const lookups = createSingleFlight<Outcome>()
  const cache = new LRUCache<string, Outcome>({ maxSize: MAX_CACHED_NAMES, sizeCalculation: () => 1, ttl: CACHE_MS })

  const run = (name: string): Promise<Outcome> =>
    lookups.run(name, async () => {
      const outcome = await getAddresses(name).then(success, (error: Error) => failure(error))
      cache.set(name, outcome)
      return outcome
    })

  return {
    /**
     * Returns the addresses of a name, or the error of getaddrinfo. Throws QueueFullError or AbortedError if the lookup
     * does not start. One that has started is not aborted.
     */
    lookUp: async (name: string, tenant: Tenant, signal: StopSignal): Promise<Outcome> => {
      const start = async () => cache.get(name) ?? run(name)
      const known = cache.get(name) ?? lookups.find(name)
      return known ?? queue.run(tenant, start, signal)
    },
  }
}

export type SystemResolver = ReturnType<typeof createSystemResolver>

/** Returns the one system resolver for tenants' names in this process, because its threads are those of the process. */
export const systemResolver = once(() => createSystemResolver())
