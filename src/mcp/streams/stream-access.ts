import type { AccessPolicy, Caller } from '../execution/index.ts'
import type { Authorize } from './admission.ts'
import type { EventStream } from './event-stream.ts'
import type { Exchange } from './exchange.ts'
import type { Mounted } from './mounted.ts'

export type StreamWatch = {
  /** Asks for the caller again; with `userId` only where that is who calls. */
  checkAccess: (policy: AccessPolicy, userId?: string) => void
  /** Keeps the stream alive, until its token has expired. */
  beat: () => void
}

/** Streams outlive the request that was let in, so their callers are asked for again when the policy changes. */
export const createStreamAccess = (authorize: Authorize, now: () => number) => ({
  watch: (
    { headers: { authorization } }: Exchange,
    mounted: Pick<Mounted, 'router'>,
    caller: Caller,
    stream: Pick<EventStream, 'beat'>,
    end: () => void,
  ): StreamWatch => {
    const checkAccess: StreamWatch['checkAccess'] = (policy, userId) => {
      if (userId !== undefined && userId !== caller?.userId) return
      const access = authorize(policy, authorization)
      if (access instanceof Promise) access.then(({ ok }) => ok || end()).catch(() => end())
      else if (!access.ok) end()
    }
    // Access may have been taken away while the request's body came: nobody was there yet to be told.
    queueMicrotask(() => checkAccess(mounted.router.server.access))
    return {
      checkAccess,
      beat: () => {
        if (caller?.expiresAt !== undefined && caller.expiresAt.getTime() <= now()) end()
        else stream.beat()
      },
    }
  },
})
export type StreamAccess = ReturnType<typeof createStreamAccess>
