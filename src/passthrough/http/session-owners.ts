import { LRUCache } from 'lru-cache'
import type { Caller } from '../../servers/access/access.ts'
import { MAX_REMEMBERED_SESSIONS, sessionKey } from '../route/balancer.ts'
import { MAX_BALANCED_SERVERS } from '../route/passthroughs.ts'

/** Stands for anonymous callers. */
const ANONYMOUS = ''

// With `max`, the library would allocate 300 kB at once for each server.
const createOwners = () => new LRUCache<string, string>({ maxSize: MAX_REMEMBERED_SESSIONS, sizeCalculation: () => 1 })

/**
 * Tracks to whom an upstream assigned which session id. The upstream does not see the caller, so for it anybody who
 * knows the id owns the session (Security Best Practices, "Session Hijacking"). Sessions of anonymous callers belong to
 * everybody, and so does an id that the upstream assigned to several callers.
 */
export const createSessionOwners = () => {
  const servers = new LRUCache<string, ReturnType<typeof createOwners>>({ max: MAX_BALANCED_SERVERS })
  return {
    /** Only for ids that the caller did not send itself, because some upstreams echo the id of the request. */
    claim: (serverId: string, id: string, caller: Caller): void => {
      const owners = servers.get(serverId) ?? createOwners()
      servers.set(serverId, owners)
      const key = sessionKey(id)
      const user = caller?.userId ?? ANONYMOUS
      owners.set(key, (owners.get(key) ?? user) === user ? user : ANONYMOUS)
    },
    isAnothers: (serverId: string, id: string, caller: Caller): boolean => {
      const owner = servers.get(serverId)?.get(sessionKey(id))
      return owner !== undefined && owner !== ANONYMOUS && owner !== caller?.userId
    },
  }
}
