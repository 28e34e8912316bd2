import type { EventBus } from '../../lib/events/event-bus.ts'
import type { Upstream, UpstreamState } from '../upstream.ts'
import type { UpstreamConnections } from './upstream-connections.ts'

export type UpstreamOutagesOptions = {
  connections: Pick<UpstreamConnections, 'onState' | 'stateOf'>
  bus: EventBus
}

/** What an upstream failed with; `ownWords`: without what it said itself. */
type Outage = { why: string; ownWords: string }

const toOutage = ({ why, ownWords = why }: Extract<UpstreamState, { kind: 'failed' }>): Outage => ({ why, ownWords })

/**
 * Which upstreams cannot be used: from a failure until they are connected again. That one is being tried, or that a
 * process has been ended for want of work, is no news.
 */
export const createUpstreamOutages = ({ connections, bus }: UpstreamOutagesOptions) => {
  const failures = new Map<string, Outage & { serverId: string }>()
  const listeners = new Set<(serverId: string) => void>()

  connections.onState(({ id, serverId }, state) => {
    const before = failures.get(id)?.why
    if (state.kind === 'failed') failures.set(id, { serverId, ...toOutage(state) })
    else if (state.kind === 'connected') failures.delete(id)
    if (failures.get(id)?.why === before) return
    for (const listener of listeners) listener(serverId)
  })
  // What it was before no longer counts.
  bus.subscribe('upstream_changed', ({ upstreamId }) => {
    failures.delete(upstreamId)
  })
  bus.subscribe('server_removed', ({ serverId }) => {
    for (const [id, failure] of failures) if (failure.serverId === serverId) failures.delete(id)
  })

  return {
    /** What it failed with; undefined where it works, or nobody has tried. */
    find: (upstream: Upstream): Outage | undefined => {
      const state = connections.stateOf(upstream)
      if (state.kind === 'failed') return toOutage(state)
      return state.kind === 'connecting' ? failures.get(upstream.id) : undefined
    },
    /** Told of the server whose upstream has failed, fails for another reason, or works again. */
    onChange: (listener: (serverId: string) => void): void => {
      listeners.add(listener)
    },
  }
}

export type UpstreamOutages = ReturnType<typeof createUpstreamOutages>
