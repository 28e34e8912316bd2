import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '../lib/cache/single-flight.ts'
import type { Database } from '../lib/db/client.ts'
import type { DatabaseHealth } from '../lib/db/health.ts'

const MAX_CACHED = 10_000

/**
 * Creates a function that returns who created an organization, which never changes. Returns undefined if that is
 * unknown, if the id is not that of an organization, and while the database cannot be reached.
 */
export const createCreatorLookup = (db: Database, { whileReachable }: Pick<DatabaseHealth, 'whileReachable'>) => {
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

  return async (organizationId: string): Promise<string | undefined> => {
    const known = creators.get(organizationId)
    if (known !== undefined) return known.id ?? undefined
    return lookups.run(organizationId, () => load(organizationId)).catch(() => undefined)
  }
}
