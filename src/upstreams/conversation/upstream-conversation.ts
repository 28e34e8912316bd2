import { fetchClientTools } from '../catalogue/fetch-catalogue.ts'
import type { CallLink, LinkedRequest, SessionPeer, StatelessPeer } from '../connection/call-link.ts'
import type { UpstreamConnections } from '../connection/upstream-connections.ts'
import { UpstreamError } from '../connection/upstream-error.ts'
import { createDedicatedConnections, type DedicatedConnection } from './dedicated-connections.ts'
import { maskTokensInOutcome } from './mask-tokens.ts'
import { createOpenCalls } from './open-calls.ts'
import { createResourceSubscriptions } from './resource-subscriptions.ts'
import { sendWithLink } from './send-with-link.ts'
import { createSessionConnections } from './session-connections.ts'
import { createUpstreamLogs } from './upstream-logs.ts'

/** Throws if the call was canceled. Its session may have ended, so nothing would close a connection opened now. */
const assertNotCancelled = (signal: AbortSignal): void => {
  if (signal.aborted) throw new UpstreamError('aborted', 'The call was cancelled.')
}

/** Handles all messages between upstreams and clients, except clients' requests and their responses. */
export const createUpstreamConversation = (connections: UpstreamConnections) => {
  const subscriptions = createResourceSubscriptions(connections)
  const dedicated = createDedicatedConnections(connections)
  const sessionConnections = createSessionConnections(dedicated)
  connections.onReplaced(sessionConnections.forget)
  const openCalls = createOpenCalls()

  /** Fetches the client's tools in the background, once per connection. */
  const fetchTools = (entry: DedicatedConnection, peer: SessionPeer): void => {
    if (entry.tools !== undefined) return
    entry.tools = []
    fetchClientTools(entry.connection)
      .then(tools => {
        entry.tools = tools
        peer.onToolsKnown()
      })
      .catch(() => {
        entry.tools = undefined
      })
  }

  /**
   * Sends a request for a client with a session, over a dedicated connection on which the upstream can send requests.
   * An upstream that supports only the stateless era asks for input in the results of the shared connection.
   */
  const throughSession =
    (upstreamId: string, link: CallLink, peer: SessionPeer): LinkedRequest =>
    async (shared, signal, send) => {
      await connections.assertAccount(upstreamId, peer.userId)
      assertNotCancelled(signal)
      const borrowed = await sessionConnections.borrow(upstreamId, shared, peer, signal)
      if (borrowed === undefined) return sendWithLink(shared, link, signal, send)
      const { entry, release } = borrowed
      fetchTools(entry, peer)
      try {
        return await maskTokensInOutcome(entry, sendWithLink(entry.connection, link, signal, send, entry.pauses))
      } finally {
        release(signal.aborted ? 'given up' : 'ended')
      }
    }

  const throughOpenCall =
    (upstreamId: string, link: CallLink, peer: StatelessPeer): LinkedRequest =>
    async (shared, signal, send) => {
      const waitingId = peer.requestState?.held
      if (waitingId !== undefined) return openCalls.resume(waitingId, peer, link, signal)
      if (shared.era() === 'modern') return sendWithLink(shared, link, signal, send)
      await connections.assertAccount(upstreamId, peer.userId)
      assertNotCancelled(signal)
      return openCalls.start(dedicated.borrow(upstreamId, peer), peer, link, signal, send)
    }

  return {
    logs: createUpstreamLogs(connections),
    subscriptions,
    dedicated,
    /** Extends the link with the function that sends the request. */
    route: (upstreamId: string, link: CallLink): CallLink => {
      const { peer } = link
      if (peer === undefined) return link
      const through =
        peer.kind === 'session' ? throughSession(upstreamId, link, peer) : throughOpenCall(upstreamId, link, peer)
      return { ...link, through }
    },
    close: async (): Promise<void> => {
      subscriptions.close()
      openCalls.close()
      await dedicated.close()
    },
  }
}
export type UpstreamConversation = ReturnType<typeof createUpstreamConversation>
