import type { CallLink, LinkedRequest, SessionPeer, StatelessPeer } from '../connection/call-link.ts'
import type { UpstreamConnections } from '../connection/upstream-connections.ts'
import { UpstreamError } from '../connection/upstream-error.ts'
import { withTokensHidden } from './account-tokens.ts'
import { askWithLink } from './ask-with-link.ts'
import { createHeldCalls } from './held-calls.ts'
import { learnTools } from './learn-tools.ts'
import { createOwnConnections, type OwnConnection } from './own-connections.ts'
import { createResourceSubscriptions } from './resource-subscriptions.ts'
import { createUpstreamLogs } from './upstream-logs.ts'

/** Its session may be over, and nobody would close the connection that is opened for it. */
const assertWanted = (signal: AbortSignal): void => {
  if (signal.aborted) throw new UpstreamError('aborted', 'The call was cancelled.')
}

/** What passes between upstreams and clients beside requests and their answers. */
export const createUpstreamExchange = (connections: UpstreamConnections) => {
  const subscriptions = createResourceSubscriptions(connections)
  const own = createOwnConnections(connections)
  const held = createHeldCalls()

  /** Once for each connection; the call does not wait for it. */
  const learn = (mine: OwnConnection, peer: SessionPeer): void => {
    if (mine.tools !== undefined) return
    mine.tools = []
    learnTools(mine.connection)
      .then(tools => {
        mine.tools = tools
        peer.learned()
      })
      .catch(() => {
        mine.tools = undefined
      })
  }

  /**
   * An upstream of the newer era asks in its results, which tells whose they are. One of the older era sends requests
   * over its connection, so a client that can be asked has one of its own.
   */
  const throughSession =
    (upstreamId: string, link: CallLink, peer: SessionPeer): LinkedRequest =>
    async (shared, signal, send) => {
      if (shared.era() === 'modern') return askWithLink(shared, link, signal, send)
      await connections.assertAccount(upstreamId, peer.userId)
      assertWanted(signal)
      const { own: mine, release } = own.share(upstreamId, peer)
      mine.audience = peer
      learn(mine, peer)
      try {
        return await withTokensHidden(mine, askWithLink(mine.connection, link, signal, send, mine.pauses))
      } finally {
        release(signal.aborted ? 'given up' : 'ended')
      }
    }

  const throughHeld =
    (upstreamId: string, link: CallLink, peer: StatelessPeer): LinkedRequest =>
    async (shared, signal, send) => {
      const waits = peer.requestState?.held
      if (waits !== undefined) return held.resume(waits, peer, link, signal)
      if (shared.era() === 'modern') return askWithLink(shared, link, signal, send)
      await connections.assertAccount(upstreamId, peer.userId)
      assertWanted(signal)
      return held.begin(own.lend(upstreamId, peer), peer, link, signal, send)
    }

  return {
    logs: createUpstreamLogs(connections),
    subscriptions,
    own,
    /** The link with the way that its request takes. */
    route: (upstreamId: string, link: CallLink): CallLink => {
      const { peer } = link
      if (peer === undefined) return link
      const through =
        peer.kind === 'session' ? throughSession(upstreamId, link, peer) : throughHeld(upstreamId, link, peer)
      return { ...link, through }
    },
    close: async (): Promise<void> => {
      subscriptions.close()
      held.close()
      await own.close()
    },
  }
}
export type UpstreamExchange = ReturnType<typeof createUpstreamExchange>
