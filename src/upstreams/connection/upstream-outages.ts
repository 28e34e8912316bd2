import type { EventBus } from '../../lib/events/event-bus.ts'
import { createListeners } from '../../lib/events/listeners.ts'
import type { Upstream, UpstreamState } from '../upstream.ts'
import type { UpstreamConnections } from './upstream-connections.ts'

export type UpstreamOutagesOptions = {
  connections: Pick<UpstreamConnections, 'onState' | 'onListFault' | 'stateOf'>
  bus: EventBus
}

/** `ownWords` contains no text from the upstream. */
type Outage = { why: string; ownWords: string }

const toOutage = ({ why, ownWords = why }: Extract<UpstreamState, { kind: 'failed' }>): Outage => ({ why, ownWords })

/**
 * Tracks which upstreams are down. An upstream is down from a failure until it is connected again. Neither retries nor
 * stopping an idle process changes this.
 */
export const createUpstreamOutages = ({ connections, bus }: UpstreamOutagesOptions) => {
  const failures = new Map<string, Outage & { serverId: string }>()
  const changes = createListeners<[serverId: string]>()

  connections.onState(({ id, serverId }, state) => {
    const before = failures.get(id)?.why
    if (state.kind === 'failed') failures.set(id, { serverId, ...toOutage(state) })
    else if (state.kind === 'connected') failures.delete(id)
    if (failures.get(id)?.why !== before) changes.notify(serverId)
  })
  connections.onListFault(({ serverId }) => changes.notify(serverId))
  // The configuration changed, so the failure no longer counts.
  bus.subscribe('upstream_changed', ({ upstreamId }) => {
    failures.delete(upstreamId)
  })
  bus.subscribe('server_removed', ({ serverId }) => {
    for (const [id, failure] of failures) if (failure.serverId === serverId) failures.delete(id)
  })

  return {
    /** Returns undefined if the upstream works or has never been tried. */
    find: (upstream: Upstream): Outage | undefined => {
      const state = connections.stateOf(upstream)
      if (state.kind === 'failed') return toOutage(state)
      return state.kind === 'connecting' ? failures.get(upstream.id) : undefined
    },
    /** Called with a server when one of its upstreams fails, fails for another reason, or recovers. */
    onChange: changes.add,
  }
}

export type UpstreamOutages = ReturnType<typeof createUpstreamOutages>
