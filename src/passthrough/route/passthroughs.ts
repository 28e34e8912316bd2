import { LRUCache } from 'lru-cache'
import type { EventBus } from '../../lib/events/event-bus.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import type { LoadedUpstream } from '../../upstreams/connection/loaded-upstreams.ts'
import type { AccountsOfConnections } from '../../upstreams/connection/upstream-connections.ts'
import { restingState, type Upstream, type UpstreamState } from '../../upstreams/upstream.ts'
import type { ReverseProxy } from '../proxy/reverse-proxy.ts'
import { type Balancer, createBalancer } from './balancer.ts'
import { createRouteAccount, type RouteAccount } from './route-account.ts'
import { toTarget } from './target.ts'

/**
 * How requests reach the upstream of a passthrough server. The object stays the same until the configuration changes.
 */
export type PassthroughRoute = {
  /** The organization of the server. */
  organizationId: string | undefined
  upstream: string
  balancer: Balancer
  /** Headers sent with every request in place of the caller's, keyed by lowercase name. */
  headers: Readonly<Record<string, string>>
  /** Timeout until the response begins. */
  timeoutMs: number
  /** Whether the upstream uses HTTP+SSE, where the first event of a stream contains the address for messages. */
  isSse: boolean
  secrets: readonly string[]
  /** Undefined if the upstream requires no authorization. */
  account: RouteAccount | undefined
}

/** Maximum number of servers whose state is stored. Fewer servers are mounted at the same time. */
export const MAX_BALANCED_SERVERS = 5_000

type Held = { key: string; route: PassthroughRoute }

/** Returns the only upstream of a passthrough server, or why it cannot be used. */
const findOnly = (loaded: readonly LoadedUpstream[]): Result<LoadedUpstream, string> => {
  const [only, second] = loaded
  if (only === undefined) return failure('This passthrough server has no MCP server to pass requests to yet.')
  if (second !== undefined) return failure('This passthrough server has more than one MCP server. Remove all but one.')
  const { isEnabled, config, name } = only.upstream
  if (!isEnabled) return failure(`The MCP server "${name}" is disabled.`)
  if (config.transport === 'stdio')
    return failure(`The MCP server "${name}" is a command. A passthrough server needs one with a URL.`)
  return success(only)
}

export type PassthroughsParts = {
  probe: ReverseProxy['probe']
  accounts: Pick<AccountsOfConnections, 'authorizerOf' | 'assertConnected'>
  bus: EventBus
}

/**
 * Holds the routes of passthrough servers, with the state of each address. A route changes only when the upstream's
 * configuration does.
 */
export const createPassthroughs = ({ probe, accounts, bus }: PassthroughsParts) => {
  const ways = new LRUCache<string, Held>({ max: MAX_BALANCED_SERVERS, dispose: ({ route }) => route.balancer.close() })
  const unsubscribe = bus.subscribe('server_removed', async ({ serverId }) => {
    ways.delete(serverId)
  })

  const open = ({ upstream, resolved }: LoadedUpstream): Result<PassthroughRoute, string> => {
    if (!resolved.ok) return failure(resolved.error.message)
    const config = resolved.value
    if (config.transport === 'stdio') return failure(`The MCP server "${upstream.name}" is a command.`)
    const { organizationId, transport, url, urls = [] } = config
    const targets = [url, ...urls].flatMap(text => toTarget(text, transport) ?? [])
    const account = createRouteAccount({ upstreamId: upstream.id, config, accounts })
    if (account !== undefined && new Set(targets.map(({ url }) => url.origin)).size > 1) {
      return failure(
        `All URLs of the MCP server "${upstream.name}" must have the same origin, because its tokens are only sent to one.`,
      )
    }
    return success({
      organizationId,
      upstream: upstream.name,
      balancer: createBalancer(targets, (target, timeoutMs) => probe(target, timeoutMs, organizationId)),
      headers: Object.fromEntries(Object.entries(config.headers).map(([name, value]) => [name.toLowerCase(), value])),
      timeoutMs: config.timeoutMs,
      isSse: transport === 'sse',
      secrets: config.secrets,
      account,
    })
  }

  return {
    /** Returns the route for a server's requests. `loaded` are all its upstreams. The error says what is missing. */
    routeOf: (serverId: string, loaded: readonly LoadedUpstream[]): Result<PassthroughRoute, string> => {
      const only = findOnly(loaded)
      if (!only.ok) {
        ways.delete(serverId)
        return only
      }
      const { upstream, resolved } = only.value
      const key = JSON.stringify([upstream.id, upstream.name, resolved])
      const held = ways.get(serverId)
      if (held?.key === key) return success(held.route)
      const route = open(only.value)
      if (route.ok) ways.set(serverId, { key, route: route.value })
      else ways.delete(serverId)
      return route
    },
    /** Drops the route of a server that is not, or no longer, a passthrough server. */
    forget: (serverId: string): void => {
      ways.delete(serverId)
    },
    /** Returns the upstream's state, or undefined if no requests are passed to the upstream. */
    stateOf: (upstream: Upstream): UpstreamState | undefined => {
      const route = ways.peek(upstream.serverId)?.route
      if (route === undefined) return undefined
      return upstream.isEnabled ? route.balancer.state() : restingState(upstream)
    },
    close: (): void => {
      unsubscribe()
      ways.clear()
    },
  }
}

export type Passthroughs = ReturnType<typeof createPassthroughs>
