import type { AccessPolicy } from '../../servers/access/access.ts'
import type { Authorize } from '../admission.ts'
import type { ServerRequest } from '../server-request.ts'
import type { EventStream } from './event-stream.ts'

export type StreamWatch = {
  /** Checks the caller's access again. If `userId` is given, checks only that user's access. */
  checkAccess: (policy: AccessPolicy, userId?: string) => void
  /** Keeps the stream alive, or ends it if the token has expired. */
  beat: () => void
}

/**
 * Checks access to streams again when the policy changes, because streams outlive the access check of their request.
 */
export const createWatchAccess =
  (authorize: Authorize, now: () => number) =>
  (
    { http: { headers }, mounted, caller }: ServerRequest,
    stream: Pick<EventStream, 'beat'>,
    end: () => void,
  ): StreamWatch => {
    const checkAccess: StreamWatch['checkAccess'] = (policy, userId) => {
      if (userId !== undefined && userId !== caller?.userId) return
      const access = authorize(policy, headers.authorization)
      if (access instanceof Promise) access.then(({ ok }) => ok || end()).catch(() => end())
      else if (!access.ok) end()
    }
    // Access may have been revoked while the body was read, before this stream could be notified.
    queueMicrotask(() => checkAccess(mounted.router.server.access))
    return {
      checkAccess,
      beat: () => {
        if (caller?.expiresAt !== undefined && caller.expiresAt.getTime() <= now()) end()
        else stream.beat()
      },
    }
  }
export type WatchAccess = ReturnType<typeof createWatchAccess>
