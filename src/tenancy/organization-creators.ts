import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '../lib/cache/single-flight.ts'
import type { Database } from '../lib/db/client.ts'
import type { DatabaseHealth } from '../lib/db/health.ts'
import type { FindCreator } from '../lib/worker/fair-queue.ts'

const MAX_CACHED = 10_000
/** How long a caller waits for the database. It only shares limits fairly, so nobody has to wait for it longer. */
const MAX_WAIT_MS = 1_000

/** Resolves like `found`, or with undefined if that takes too long. */
const orUnknown = async <Found>(found: Promise<Found>): Promise<Found | undefined> => {
  const { promise: givenUp, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, MAX_WAIT_MS, undefined)
  try {
    return await Promise.race([found, givenUp])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Creates a function that returns who created an organization, which never changes. Returns undefined if that is
 * unknown, if the id is not that of an organization, and while the database cannot be reached or is slow. Returns
 * a known creator without a promise, because every call asks for one.
 */
export const createCreatorLookup = (
  db: Database,
  { whileReachable }: Pick<DatabaseHealth, 'whileReachable'>,
): FindCreator => {
  // `null`: unknown.
  const creators = new LRUCache<string, { id: string | null }>({ maxSize: MAX_CACHED, sizeCalculation: () => 1 })
  const lookups = createSingleFlight<string | undefined>()

  const load = async (organizationId: string): Promise<string | undefined> => {
    const query = { where: { id: organizationId }, select: { creatorId: true } }
    const row = await whileReachable(() => db.organization.findUnique(query))
    const id = row?.creatorId ?? null
    creators.set(organizationId, { id })
    return id ?? undefined
  }

  return organizationId => {
    const known = creators.get(organizationId)
    if (known !== undefined) return known.id ?? undefined
    return lookups.run(organizationId, () => orUnknown(load(organizationId))).catch(() => undefined)
  }
}
