import { LRUCache } from 'lru-cache'
import { failure, type Result, success } from '../../kernel/index.ts'
import type { EventBus } from '../../platform/events/index.ts'
import { restingState, type Upstream, type UpstreamState } from '../upstream.ts'
import type { AccountsOfConnections, LoadedUpstream } from '../upstream-connections.ts'
import { type Balancer, createBalancer, type Probe } from './balancer.ts'
import { MAX_BALANCED_SERVERS } from './limits.ts'
import { type PassthroughTarget, toTarget } from './target.ts'
import { createWayAccount, type WayAccount } from './way-account.ts'

/** How the requests of a passthrough server reach its upstream. The same object while that is configured the same. */
export type PassthroughWay = {
  upstream: string
  balancer: Balancer
  /** Go out with every request, in place of what the caller says. Names in lower case. */
  headers: Readonly<Record<string, string>>
  /** From a request to the beginning of its answer. */
  timeoutMs: number
  /** Whether the first event of a stream names the address that messages go to. */
  isSse: boolean
  secrets: readonly string[]
  /** Of an upstream that asks for authorization. */
  account: WayAccount | undefined
}

type Held = { key: string; way: PassthroughWay }

const toTargets = (urls: readonly string[], transport: 'http' | 'sse'): PassthroughTarget[] =>
  urls.flatMap(url => toTarget(url, transport) ?? [])

/** The one upstream that a passthrough server may have, or what is wrong with those it has. */
const findOnly = (loaded: readonly LoadedUpstream[]): Result<LoadedUpstream, string> => {
  const [only, second] = loaded
  if (only === undefined) return failure('This server has no upstream to pass requests on to yet.')
  if (second !== undefined) return failure('This server has more than one upstream, and passes on to none of them.')
  const { isEnabled, config, name } = only.upstream
  if (!isEnabled) return failure(`The upstream "${name}" is disabled.`)
  if (config.transport === 'stdio')
    return failure(`The upstream "${name}" is a command: nothing can be passed on to it.`)
  return success(only)
}

export type PassthroughsParts = {
  probe: Probe
  accounts: Pick<AccountsOfConnections, 'authorizerOf' | 'assertConnected'>
  bus: EventBus
}

/** What is known of the addresses of passthrough servers, which outlives a change of anything else about them. */
export const createPassthroughs = ({ probe, accounts, bus }: PassthroughsParts) => {
  const ways = new LRUCache<string, Held>({ max: MAX_BALANCED_SERVERS, dispose: ({ way }) => way.balancer.close() })
  const unsubscribe = bus.subscribe('server_removed', async ({ serverId }) => {
    ways.delete(serverId)
  })

  const open = ({ upstream, resolved }: LoadedUpstream): Result<PassthroughWay, string> => {
    if (!resolved.ok) return failure(resolved.error.message)
    const config = resolved.value
    if (config.transport === 'stdio') return failure(`The upstream "${upstream.name}" is a command.`)
    const targets = toTargets([config.url, ...(config.urls ?? [])], config.transport)
    const account = createWayAccount({ upstreamId: upstream.id, config, accounts })
    if (account !== undefined && new Set(targets.map(({ url }) => url.origin)).size > 1) {
      return failure(`The tokens of the upstream "${upstream.name}" are for one origin: all its URLs must be there.`)
    }
    return success({
      upstream: upstream.name,
      balancer: createBalancer(targets, probe),
      headers: Object.fromEntries(Object.entries(config.headers).map(([name, value]) => [name.toLowerCase(), value])),
      timeoutMs: config.timeoutMs,
      isSse: config.transport === 'sse',
      secrets: config.secrets,
      account,
    })
  }

  return {
    /** The way of a server's requests, given all upstreams that it has; the error says what it lacks. */
    wayOf: (serverId: string, loaded: readonly LoadedUpstream[]): Result<PassthroughWay, string> => {
      const only = findOnly(loaded)
      if (!only.ok) {
        ways.delete(serverId)
        return only
      }
      const { upstream, resolved } = only.value
      const key = JSON.stringify([upstream.id, upstream.name, resolved])
      const held = ways.get(serverId)
      if (held?.key === key) return success(held.way)
      const way = open(only.value)
      if (way.ok) ways.set(serverId, { key, way: way.value })
      else ways.delete(serverId)
      return way
    },
    /** The server passes nothing on, or no longer. */
    forget: (serverId: string): void => {
      ways.delete(serverId)
    },
    /** Undefined where nothing is passed on to it. */
    stateOf: (upstream: Upstream): UpstreamState | undefined => {
      const way = ways.peek(upstream.serverId)?.way
      if (way === undefined) return undefined
      return upstream.isEnabled ? way.balancer.state() : restingState(upstream)
    },
    close: (): void => {
      unsubscribe()
      ways.clear()
    },
  }
}

export type Passthroughs = ReturnType<typeof createPassthroughs>
