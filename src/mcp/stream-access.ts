import type { AccessPolicy } from '../execution/index.ts'
import type { Authorize } from './admission.ts'
import type { Exchange } from './exchange.ts'

/** Streams outlive the request that was let in, so their callers are asked for again when the policy changes. */
export const createStreamAccess = (authorize: Authorize) => ({
  watch:
    ({ headers: { authorization } }: Exchange, end: () => void) =>
    (policy: AccessPolicy): void => {
      const access = authorize(policy, authorization)
      if (access instanceof Promise) access.then(({ ok }) => ok || end()).catch(() => end())
      else if (!access.ok) end()
    },
})
export type StreamAccess = ReturnType<typeof createStreamAccess>
