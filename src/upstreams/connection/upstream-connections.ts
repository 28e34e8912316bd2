import type { Notification } from '@modelcontextprotocol/client'
import type { EventBus } from '../../lib/events/event-bus.ts'
import type { Result } from '../../lib/kernel/result.ts'
import type { ResolutionFault } from '../config/compiled-config.ts'
import { EVERYBODY } from '../oauth-client/account.ts'
import { NAMELESS } from '../oauth-client/account-words.ts'
import type { Authorizer } from '../oauth-client/authorizer.ts'
import { isPerCaller, type ResolvedConfig, restingState, type Upstream, type UpstreamState } from '../upstream.ts'
import { createCallerConnections } from './caller-connections.ts'
import { createUpstreamConnection, type UpstreamConnection, type UpstreamParts } from './connection.ts'
import type { UpstreamOffer } from './open-connection.ts'
import type { LogLine } from './output-log.ts'
import { AccountError, UpstreamError } from './upstream-error.ts'

/** An upstream with what its connection is made of at this moment, or why there can be none. */
export type LoadedUpstream = {
  upstream: Upstream
  resolved: Result<ResolvedConfig, ResolutionFault>
  /** Tells the accounts apart that it was connected with. */
  accountKey?: string | undefined
}

/** The accounts that upstreams are reached by which ask for authorization. */
export type AccountsOfConnections = {
  authorizerOf: (upstreamId: string, holder: string) => Authorizer
  /** Throws AccountError where the holder has connected none that is good. */
  assertConnected: (upstreamId: string, holder: string) => Promise<void>
  /** Of the callers who have connected one and may call still; rather this one. */
  findLatestHolder: (upstreamId: string, preferred: string | undefined) => Promise<string | undefined>
}

export type UpstreamConnectionsOptions = {
  /** All of a server's, with its globals as they are now; none where the server is gone. */
  load: (serverId: string) => Promise<readonly LoadedUpstream[]>
  /** Of servers with an upstream that is to be connected at once. */
  listEagerServerIds: () => Promise<readonly string[]>
  accounts: AccountsOfConnections
  parts: UpstreamParts
  bus: EventBus
}

type Held = LoadedUpstream & {
  /** Of all that a connection depends on; secrets are in it, so it is never shown. */
  key: string
  /** Made when it is first needed. */
  connection: UpstreamConnection | undefined
}

const keyOf = ({ upstream, resolved, accountKey }: LoadedUpstream): string => {
  if (!upstream.isEnabled) return ''
  if (!resolved.ok) return JSON.stringify(resolved.error)
  const { features: _features, allow: _allow, deny: _deny, prefix: _prefix, ...connecting } = resolved.value
  return JSON.stringify([connecting, accountKey])
}

/** What a caller's own connection may tell everybody of. */
const LIST_CHANGED = /^notifications\/(tools|resources|prompts)\/list_changed$/

/** One that nothing has connected, for it cannot be: what it lacks is said. */
const lackingState = ({ upstream, resolved }: LoadedUpstream): UpstreamState | undefined =>
  resolved.ok || resolved.error.reason !== 'not_connected'
    ? undefined
    : { kind: 'failed', why: resolved.error.message, since: upstream.updatedAt, nextTryAt: undefined }

/**
 * The one connection of each upstream that is enabled, made when it is first needed. Once a server is known here, its
 * calls need no database; what changes is closed and made anew: the upstream, a global in it, the server's removal.
 */
export const createUpstreamConnections = ({
  load,
  listEagerServerIds,
  accounts,
  parts,
  bus,
}: UpstreamConnectionsOptions) => {
  const servers = new Map<string, Map<string, Held>>()
  const byId = new Map<string, Held>()
  const syncing = new Map<string, Promise<unknown>>()
  const closing = new Set<Promise<unknown>>()
  const notified = new Set<(upstream: Upstream, notification: Notification) => void>()
  const entered = new Set<(upstream: Upstream, state: UpstreamState) => void>()
  const replaced = new Set<(upstreamId: string) => void>()
  const accessChanged = new Set<(userId: string) => void>()
  let isClosed = false

  const letGo = ({ upstream, connection }: Held): void => {
    callers.closeOf(upstream.id)
    if (connection === undefined) return
    // How it ends, it is gone: what is left of a process, its keeper ends.
    const ending: Promise<unknown> = connection.close().then(
      () => closing.delete(ending),
      () => closing.delete(ending),
    )
    closing.add(ending)
  }

  const make = (held: Held, holder: string, offer?: UpstreamOffer): UpstreamConnection => {
    const { id, config } = held.upstream
    return createUpstreamConnection({
      resolve: async () => {
        const { resolved } = held
        if (resolved.ok) return resolved.value
        const { reason, message } = resolved.error
        if (reason === 'not_connected') throw new AccountError(message, undefined)
        throw new UpstreamError('misconfigured', message)
      },
      timeoutMs: config.timeoutMs,
      isEager: config.isEager && offer === undefined && !isPerCaller(config),
      parts,
      authorizer: config.auth.type === 'none' ? undefined : accounts.authorizerOf(id, holder),
      ...(offer !== undefined && { offer }),
    })
  }

  const open = (held: Held): UpstreamConnection => {
    const connection = make(held, EVERYBODY)
    connection.onNotification(notification => {
      for (const listener of notified) listener(held.upstream, notification)
    })
    connection.onState(state => {
      for (const listener of entered) listener(held.upstream, state)
    })
    return connection
  }

  const findEnabled = (upstreamId: string): Held | undefined => {
    const held = byId.get(upstreamId)
    return held === undefined || !held.upstream.isEnabled || isClosed ? undefined : held
  }

  /** One that all callers share. Undefined where there is none, it is disabled, or each goes by an account of their own. */
  const find = (upstreamId: string): UpstreamConnection | undefined => {
    const held = findEnabled(upstreamId)
    if (held === undefined || isPerCaller(held.upstream.config)) return undefined
    held.connection ??= open(held)
    return held.connection
  }

  /** Of a caller's own; what it tells of changed lists is for all, and nothing else of it. */
  const openOwn = (upstreamId: string, userId: string): UpstreamConnection | undefined => {
    const held = findEnabled(upstreamId)
    if (held === undefined) return undefined
    const connection = make(held, userId)
    connection.onNotification(notification => {
      if (!LIST_CHANGED.test(notification.method)) return
      for (const listener of notified) listener(held.upstream, { method: notification.method })
    })
    return connection
  }

  /** Throws AccountError where the caller is to connect an account of their own first. */
  const assertAccount = async (upstreamId: string, userId: string | undefined): Promise<void> => {
    const held = findEnabled(upstreamId)
    if (held === undefined || !isPerCaller(held.upstream.config)) return
    if (userId === undefined) throw new AccountError(NAMELESS, undefined)
    await accounts.assertConnected(upstreamId, userId)
  }

  /** A connection of one client's own, which answers what the upstream asks; whoever has it opened closes it. */
  const openWith = (
    upstreamId: string,
    offer: UpstreamOffer,
    userId: string | undefined,
  ): UpstreamConnection | undefined => {
    const held = findEnabled(upstreamId)
    if (held === undefined) return undefined
    if (!isPerCaller(held.upstream.config)) return make(held, EVERYBODY, offer)
    return userId === undefined ? undefined : make(held, userId, offer)
  }

  const callers = createCallerConnections({
    open: openOwn,
    assertConnected: accounts.assertConnected,
    findLatestHolder: accounts.findLatestHolder,
  })

  /** For the calls of one caller, who may have no name. As `find` where all share one. */
  const findFor = (upstreamId: string, userId: string | undefined): UpstreamConnection | undefined => {
    const held = findEnabled(upstreamId)
    if (held === undefined || !isPerCaller(held.upstream.config)) return find(upstreamId)
    return callers.of(upstreamId, userId)
  }

  /** For what is the same whoever asks, such as lists: by any caller's account where each has their own. */
  const findForAll = (upstreamId: string): UpstreamConnection | undefined => {
    const held = findEnabled(upstreamId)
    if (held === undefined || !isPerCaller(held.upstream.config)) return find(upstreamId)
    return callers.ofAnybody(upstreamId)
  }

  const hold = (serverId: string, loaded: readonly LoadedUpstream[]): void => {
    const before = servers.get(serverId) ?? new Map<string, Held>()
    const after = new Map<string, Held>()
    const closed: string[] = []
    for (const each of loaded) {
      const { id } = each.upstream
      const key = keyOf(each)
      const known = before.get(id)
      before.delete(id)
      const isSame = known?.key === key
      if (known !== undefined && !isSame) {
        letGo(known)
        closed.push(id)
      }
      // The same object where it is the same: the connection reads it.
      const held: Held =
        known !== undefined && isSame ? Object.assign(known, each) : { ...each, key, connection: undefined }
      after.set(id, held)
      byId.set(id, held)
    }
    for (const [id, gone] of before) {
      byId.delete(id)
      letGo(gone)
      closed.push(id)
    }
    if (after.size === 0) servers.delete(serverId)
    else servers.set(serverId, after)
    for (const [id, { upstream }] of after) if (upstream.config.isEager) find(id)
    for (const id of closed) for (const listener of replaced) listener(id)
  }

  /**
   * Brings what is held of a server up to date; answers its upstreams. Those who ask while it is read wait for a
   * reading of their own: what one has read may be older than what another was told of.
   */
  const sync = async (serverId: string): Promise<readonly Upstream[]> => {
    const before = syncing.get(serverId)
    const own = (async () => {
      await before?.catch(() => {})
      const loaded = await load(serverId)
      if (!isClosed) hold(serverId, loaded)
      return loaded.map(({ upstream }) => upstream)
    })()
    syncing.set(serverId, own)
    try {
      return await own
    } finally {
      if (syncing.get(serverId) === own) syncing.delete(serverId)
    }
  }

  const syncHeld = async (serverId: string): Promise<void> => {
    if (servers.has(serverId)) await sync(serverId)
  }
  const subscriptions = [
    bus.subscribe('server_changed', ({ serverId }) => syncHeld(serverId)),
    bus.subscribe('server_removed', ({ serverId }) => syncHeld(serverId)),
    bus.subscribe('upstream_changed', async ({ serverId }) => {
      await sync(serverId)
    }),
    bus.subscribe('access_changed', ({ userId }) => {
      callers.closeOfUser(userId)
      for (const listener of accessChanged) listener(userId)
    }),
    bus.subscribe('resync', async () => {
      for (const serverId of [...servers.keys()]) await sync(serverId)
    }),
  ]

  return {
    sync,
    find,
    findFor,
    findForAll,
    assertAccount,
    openWith,
    /** Those that are held, with their connections where there is one. */
    listHeld: (): readonly Pick<Held, 'upstream' | 'connection'>[] =>
      [...byId.values()].map(held => {
        const { upstream } = held
        if (!isPerCaller(upstream.config)) return held
        const isConnected = callers.stateOf(upstream.id)?.kind === 'connected'
        return { upstream, connection: isConnected ? callers.ofAnybody(upstream.id) : undefined }
      }),
    stateOf: (upstream: Upstream): UpstreamState => {
      const held = upstream.isEnabled ? byId.get(upstream.id) : undefined
      const state = held && (held.connection?.state() ?? callers.stateOf(upstream.id) ?? lackingState(held))
      return state ?? restingState(upstream)
    },
    /** As its connection has it. */
    upstreamOf: (upstreamId: string): Upstream | undefined => byId.get(upstreamId)?.upstream,
    /** Values that stand in its configuration and may be shown nowhere. */
    secretsOf: (upstreamId: string): readonly string[] => {
      const resolved = byId.get(upstreamId)?.resolved
      return resolved?.ok === true ? resolved.value.secrets : []
    },
    /** What its process said, and what became of it; nothing while there was no connection. */
    logOf: (upstreamId: string): readonly LogLine[] => byId.get(upstreamId)?.connection?.log() ?? [],
    onNotification: (listener: (upstream: Upstream, notification: Notification) => void): void => {
      notified.add(listener)
    },
    onState: (listener: (upstream: Upstream, state: UpstreamState) => void): void => {
      entered.add(listener)
    },
    /** Tells of connections that were closed because their upstream is not what it was: `find` has another, if any. */
    onReplaced: (listener: (upstreamId: string) => void): void => {
      replaced.add(listener)
    },
    /** Tells of users whose accounts may not be what they were: what goes by one of them is closed. */
    onAccessChanged: (listener: (userId: string) => void): void => {
      accessChanged.add(listener)
    },
    /** Connects what is to be connected at once. */
    start: async (): Promise<void> => {
      for (const serverId of await listEagerServerIds()) await sync(serverId)
    },
    /** Ends every connection with its process; none is made afterwards. */
    close: async (): Promise<void> => {
      isClosed = true
      for (const end of subscriptions) end()
      await Promise.allSettled(syncing.values())
      for (const held of byId.values()) letGo(held)
      await callers.close()
      await Promise.allSettled(closing)
      await parts.processes.close()
    },
  }
}

export type UpstreamConnections = ReturnType<typeof createUpstreamConnections>
