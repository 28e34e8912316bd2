import type { Caller } from '../../execution/index.ts'
import { createNewestEntries } from '../../platform/newest-entries.ts'
import { MAX_BALANCED_SERVERS, MAX_REMEMBERED_SESSIONS, sessionKey } from '../../upstreams/index.ts'

/** In the place of a user. */
const ANYBODY = ''

const createOwners = () => createNewestEntries<string>(MAX_REMEMBERED_SESSIONS)

/**
 * Who was given which session id by an upstream. It is shown nothing of the caller, so to it whoever knows the id is the
 * one who began it (Security Best Practices, "Session Hijacking"). What somebody unknown began is anybody's, and so is
 * what the upstream gave to several of itself: a name that it has for all of them.
 */
export const createSessionOwners = () => {
  const servers = createNewestEntries<ReturnType<typeof createOwners>>(MAX_BALANCED_SERVERS)
  return {
    /** Call for an id that the caller did not name itself: some upstreams repeat whatever they are asked with. */
    claim: (serverId: string, id: string, caller: Caller): void => {
      const owners = servers.get(serverId) ?? createOwners()
      servers.set(serverId, owners)
      const key = sessionKey(id)
      const user = caller?.userId ?? ANYBODY
      owners.set(key, (owners.get(key) ?? user) === user ? user : ANYBODY)
    },
    isAnothers: (serverId: string, id: string, caller: Caller): boolean => {
      const owner = servers.get(serverId)?.get(sessionKey(id))
      return owner !== undefined && owner !== ANYBODY && owner !== caller?.userId
    },
  }
}
