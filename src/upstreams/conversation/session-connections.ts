import { LRUCache } from 'lru-cache'
import type { SessionPeer } from '../connection/call-link.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import { UpstreamError, type UpstreamFault } from '../connection/upstream-error.ts'
import type { BorrowedConnection, createDedicatedConnections } from './dedicated-connections.ts'

/** How long an upstream is not tried again in the session era after it has refused it. */
const REFUSAL_MS = 5 * 60_000
/** How long it is not tried again for one client after an error that may be temporary. */
const CLIENT_REFUSAL_MS = 30_000
/** Maximum number of refusals that are remembered. */
const MAX_REFUSALS = 10_000
/** Errors of an upstream that was reached but does not support the session era. Others may be temporary. */
const REFUSALS: ReadonlySet<UpstreamFault> = new Set(['not_mcp', 'protocol', 'exited', 'not_mcp_output', 'no_response'])
/** Errors that say nothing about the upstream. `unavailable` is the error of a pool that is full. */
const NO_REFUSALS: ReadonlySet<UpstreamFault> = new Set(['aborted', 'unavailable'])

const isModern = async (shared: UpstreamConnection, signal: AbortSignal): Promise<boolean> =>
  (shared.era() ?? (await shared.get(signal)).getProtocolEra()) === 'modern'

/**
 * Provides the connections on which upstreams send requests to clients with a session. They are made in the session
 * era, because servers that support both eras can send requests only in this one.
 */
export const createSessionConnections = (
  dedicated: Pick<ReturnType<typeof createDedicatedConnections>, 'share' | 'closeClient' | 'listOf'>,
) => {
  /** Upstreams that cannot send requests in the session era, for all clients or for one. */
  const refusals = new LRUCache<string, true>({ max: MAX_REFUSALS, ttl: REFUSAL_MS })
  const keyFor = (upstreamId: string, { key }: SessionPeer): string => `${upstreamId}/${key}`

  const hasRefused = (upstreamId: string, peer: SessionPeer): boolean =>
    refusals.has(upstreamId) || refusals.has(keyFor(upstreamId, peer))

  /** Remembers a refusal for all clients, unless it may be temporary or the upstream accepts other clients. */
  const remember = (upstreamId: string, peer: SessionPeer, mayBeTemporary: boolean): void => {
    const isAccepted = dedicated.listOf(upstreamId).some(({ connection }) => connection.hasSession())
    if (mayBeTemporary || isAccepted) refusals.set(keyFor(upstreamId, peer), true, { ttl: CLIENT_REFUSAL_MS })
    else refusals.set(upstreamId, true)
  }

  /** Returns the client's own connection once it is open, or undefined if the upstream cannot send requests on it. */
  const open = async (
    upstreamId: string,
    shared: UpstreamConnection,
    peer: SessionPeer,
    signal: AbortSignal,
  ): Promise<BorrowedConnection | undefined> => {
    const borrowed = dedicated.share(upstreamId, peer)
    const { connection } = borrowed.entry
    // The upstream may send requests as soon as it is connected.
    borrowed.entry.audience = peer
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
      const isConnected = dedicated.listOf(upstreamId).some(({ key }) => key === peer.key)
      if (!isConnected && shared.era() === 'modern' && hasRefused(upstreamId, peer)) return undefined
      let fault: UpstreamFault = 'protocol'
      try {
        const borrowed = await open(upstreamId, shared, peer, signal)
        if (borrowed !== undefined) {
          refusals.delete(upstreamId)
          return borrowed
        }
      } catch (error) {
        if (signal.aborted || !(await isModern(shared, signal))) throw error
        fault = error instanceof UpstreamError ? error.kind : 'aborted'
      }
      dedicated.closeClient(peer.key, upstreamId)
      if (!NO_REFUSALS.has(fault)) remember(upstreamId, peer, !REFUSALS.has(fault))
      return undefined
    },
    /** Forgets that an upstream refused the session era. Call it when the upstream has changed. */
    forget: (upstreamId: string): void => {
      for (const key of refusals.keys()) {
        if (key === upstreamId || key.startsWith(`${upstreamId}/`)) refusals.delete(key)
      }
    },
  }
}
