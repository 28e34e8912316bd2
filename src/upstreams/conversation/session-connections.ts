import { LRUCache } from 'lru-cache'
import type { SessionPeer } from '../connection/call-link.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import { UpstreamError, type UpstreamFault } from '../connection/upstream-error.ts'
import type { BorrowedConnection, createDedicatedConnections } from './dedicated-connections.ts'

/** How long an upstream is not tried again in the session era after it has refused it. */
const REFUSAL_MS = 5 * 60_000
/** Maximum number of upstreams whose refusal is remembered. */
const MAX_REFUSALS = 10_000
/** Errors of an upstream that was reached but does not support the session era. Others may be temporary. */
const REFUSALS: ReadonlySet<UpstreamFault> = new Set(['not_mcp', 'protocol', 'exited', 'not_mcp_output', 'no_response'])

const isModern = async (shared: UpstreamConnection, signal: AbortSignal): Promise<boolean> =>
  (shared.era() ?? (await shared.get(signal)).getProtocolEra()) === 'modern'

/**
 * Provides the connections on which upstreams send requests to clients with a session. They are made in the session
 * era, because servers that support both eras can send requests only in this one.
 */
export const createSessionConnections = (
  dedicated: Pick<ReturnType<typeof createDedicatedConnections>, 'share' | 'closeClient'>,
) => {
  /** Upstreams of the stateless era that cannot send requests in the session era. */
  const refusals = new LRUCache<string, true>({ max: MAX_REFUSALS, ttl: REFUSAL_MS })

  /** Returns the client's own connection once it is open, or undefined if the upstream cannot send requests on it. */
  const open = async (
    upstreamId: string,
    shared: UpstreamConnection,
    peer: SessionPeer,
    signal: AbortSignal,
  ): Promise<BorrowedConnection | undefined> => {
    const borrowed = dedicated.share(upstreamId, peer)
    const { connection } = borrowed.entry
    try {
      await connection.get(signal)
      if (connection.hasSession() || !(await isModern(shared, signal))) return borrowed
    } catch (error) {
      borrowed.release(signal.aborted ? 'given up' : 'ended')
      throw error
    }
    borrowed.release('ended')
    return undefined
  }

  return {
    /**
     * Borrows the connection of a client with a session. Returns undefined if the upstream can ask this client for
     * input only in the results of the shared connection, which is then in the stateless era. Throws UpstreamError.
     */
    borrow: async (
      upstreamId: string,
      shared: UpstreamConnection,
      peer: SessionPeer,
      signal: AbortSignal,
    ): Promise<BorrowedConnection | undefined> => {
      if (shared.era() === 'modern' && refusals.has(upstreamId)) return undefined
      try {
        const borrowed = await open(upstreamId, shared, peer, signal)
        if (borrowed !== undefined) return borrowed
        refusals.set(upstreamId, true)
      } catch (error) {
        if (signal.aborted || !(await isModern(shared, signal))) throw error
        if (error instanceof UpstreamError && REFUSALS.has(error.kind)) refusals.set(upstreamId, true)
      }
      dedicated.closeClient(peer.key, upstreamId)
      return undefined
    },
    /** Forgets that an upstream refused the session era. Call it when the upstream has changed. */
    forget: (upstreamId: string): void => void refusals.delete(upstreamId),
  }
}
