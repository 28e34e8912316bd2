import { LRUCache } from 'lru-cache'
import type { Caller } from '../../servers/access/access.ts'
import { MAX_REMEMBERED_SESSIONS, sessionKey } from '../route/balancer.ts'
import { MAX_BALANCED_SERVERS } from '../route/passthroughs.ts'

/** The user id for anonymous callers. */
const ANONYMOUS = ''

// With `max` instead of `maxSize`, the library would allocate 300 kB per server up front.
const createOwners = () => new LRUCache<string, string>({ maxSize: MAX_REMEMBERED_SESSIONS, sizeCalculation: () => 1 })

/**
 * Tracks which caller received which session id from an upstream. The upstream cannot tell callers apart and accepts
 * the id from anyone (Security Best Practices, "Session Hijacking"). Anyone may use the sessions of anonymous callers,
 * and ids that the upstream assigned to several callers.
 */
export const createSessionOwners = () => {
  const servers = new LRUCache<string, ReturnType<typeof createOwners>>({ max: MAX_BALANCED_SERVERS })
  return {
    /**
     * Records the caller as the owner of an id. Must not be called for an id that the caller itself sent, because some
     * upstreams echo it.
     */
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
