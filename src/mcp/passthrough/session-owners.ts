import type { Caller } from '../../execution/index.ts'
import { createNewestEntries } from '../../platform/newest-entries.ts'
import { sessionKey } from '../../upstreams/index.ts'

/** Of all servers together; the one unused for longest is forgotten first. */
const MAX_REMEMBERED = 100_000
/** In the place of a user. */
const ANYBODY = ''

/**
 * Who began which session of an upstream. The upstream is shown nothing of the caller, so to it whoever knows the id is
 * the one who began it (Security Best Practices, "Session Hijacking"). What somebody unknown began is anybody's, and so
 * is what the upstream gave to several of itself: a name that it has for all of them.
 */
export const createSessionOwners = () => {
  const owners = createNewestEntries<string>(MAX_REMEMBERED)
  const keyOf = (serverId: string, session: string): string => `${serverId} ${sessionKey(session)}`
  return {
    /** The upstream has given this session to this caller. */
    claim: (serverId: string, session: string, caller: Caller): void => {
      const key = keyOf(serverId, session)
      const user = caller?.userId ?? ANYBODY
      owners.set(key, (owners.get(key) ?? user) === user ? user : ANYBODY)
    },
    isAnothers: (serverId: string, session: string, caller: Caller): boolean => {
      const owner = owners.get(keyOf(serverId, session))
      return owner !== undefined && owner !== ANYBODY && owner !== caller?.userId
    },
  }
}
