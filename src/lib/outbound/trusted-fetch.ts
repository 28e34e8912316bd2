import { CONNECT_TIMEOUT_MS } from '../kernel/limits.ts'
import { success } from '../kernel/result.ts'
import { type BoundedFetch, createBoundedFetch, type FetchBounds } from './bounded-fetch.ts'
import { createHttpClient } from './client.ts'

/** Sockets to one origin at once: a provider is asked a few things in a sign-in. */
const MAX_SOCKETS = 16

/**
 * A `fetch` for addresses that the operator's own settings name, and for what is found there: any address, private ones
 * too, but never a redirect, and each answer within its time and its size. Throws OutboundError.
 */
export const createTrustedFetch = (bounds: FetchBounds): { fetch: BoundedFetch; close: () => Promise<void> } => {
  const client = createHttpClient({
    policy: () => success(undefined),
    maxRedirects: 0,
    connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, bounds.timeoutMs),
    maxSockets: MAX_SOCKETS,
  })
  return { fetch: createBoundedFetch(client, bounds), close: () => client.close() }
}
