import type { Notification } from '@modelcontextprotocol/client'
import type { EventBus } from '../../lib/events/event-bus.ts'
import { createListeners } from '../../lib/events/listeners.ts'
import { EVERYBODY } from '../oauth-client/account.ts'
import { CALLER_UNKNOWN } from '../oauth-client/account-messages.ts'
import type { Authorizer } from '../oauth-client/authorizer.ts'
import { isPerCaller, type ResolvedConfig, restingState, type Upstream, type UpstreamState } from '../upstream.ts'
import { createCallerConnections } from './caller-connections.ts'
import { createUpstreamConnection, type UpstreamConnection, type UpstreamParts } from './connection.ts'
import { createClosing } from './connection-pool.ts'
import {
  createLoadedUpstreams,
  type Entry,
  type LoadedUpstream,
  type LoadedUpstreamsOptions,
  type Replacement,
} from './loaded-upstreams.ts'
import type { ClientSetup } from './open-connection.ts'
import type { LogLine } from './output-log.ts'
import { AccountError, UpstreamError } from './upstream-error.ts'

export type AccountsOfConnections = {
  authorizerOf: (upstreamId: string, holder: string) => Authorizer
  /** Throws AccountError if the holder has no working account. */
  assertConnected: (upstreamId: string, holder: string) => Promise<void>
  /** Returns a caller with a working account who may still call the server, preferably `preferred`. */
  findLatestHolder: (upstreamId: string, preferred: string | undefined) => Promise<string | undefined>
}

export type UpstreamConnectionsOptions = {
  load: LoadedUpstreamsOptions['load']
  /** Returns the servers that have an upstream with `isEager`. */
  listEagerServerIds: () => Promise<readonly string[]>
  accounts: AccountsOfConnections
  parts: UpstreamParts
  bus: EventBus
}

/**
 * Removes the upstream's own text from a failure of one caller's connection: it may be about that caller's account, but
 * other users see the state.
 */
const withoutOwnText = (state: UpstreamState): UpstreamState =>
  state.kind === 'failed' ? { ...state, why: state.ownWords ?? state.why } : state

/** Matches the notifications on a caller's own connection that concern all callers. */
export const LIST_CHANGED = /^notifications\/(tools|resources|prompts)\/list_changed$/

const missingAccountState = ({ upstream, resolved }: LoadedUpstream): UpstreamState | undefined =>
  resolved.ok || resolved.error.reason !== 'not_connected'
    ? undefined
    : { kind: 'failed', why: resolved.error.message, since: upstream.updatedAt, nextTryAt: undefined }

/**
 * One connection for each enabled upstream, created on first use. Once a server is loaded, calls to it do not need the
 * database. A connection is closed and replaced when its upstream, one of its globals or its server changes.
 */
export const createUpstreamConnections = ({
  load,
  listEagerServerIds,
  accounts,
  parts,
  bus,
}: UpstreamConnectionsOptions) => {
  const closing = createClosing()
  const notifications = createListeners<[upstream: Upstream, notification: Notification]>()
  const states = createListeners<[upstream: Upstream, state: UpstreamState]>()
  const listFaults = createListeners<[upstream: Upstream]>()
  const replacements = createListeners<[upstreamId: string, reopened: Upstream | undefined]>()
  const accessChanges = createListeners<[userId: string]>()
  let isClosed = false

  const closeEntry = ({ upstream, connection }: Entry): void => {
    callers.closeUpstream(upstream.id)
    if (connection !== undefined) closing.start(connection)
  }

  const createConnection = (entry: Entry, holder: string, setup?: ClientSetup): UpstreamConnection => {
    const { id, config } = entry.upstream
    return createUpstreamConnection({
      resolve: async () => {
        const { resolved } = entry
        if (resolved.ok) return resolved.value
        const { reason, message } = resolved.error
        if (reason === 'not_connected') throw new AccountError(message, undefined)
        throw new UpstreamError('misconfigured', message)
      },
      timeoutMs: config.timeoutMs,
      isEager: config.isEager && setup === undefined && !isPerCaller(config),
      parts,
      messageLimit: entry.messageLimit,
      authorizer: config.auth.type === 'none' ? undefined : accounts.authorizerOf(id, holder),
      ...(setup !== undefined && { setup }),
    })
  }

  const open = (entry: Entry): UpstreamConnection => {
    const connection = createConnection(entry, EVERYBODY)
    connection.onNotification(notification => notifications.notify(entry.upstream, notification))
    connection.onState(state => states.notify(entry.upstream, state))
    return connection
  }

  const findEnabled = (upstreamId: string): Entry | undefined => {
    const entry = upstreams.find(upstreamId)
    return entry === undefined || !entry.upstream.isEnabled || isClosed ? undefined : entry
  }

  /**
   * Returns the shared connection, or undefined if the upstream is unknown or disabled or if each caller has their own
   * account.
   */
  const find = (upstreamId: string): UpstreamConnection | undefined => {
    const entry = findEnabled(upstreamId)
    if (entry === undefined || isPerCaller(entry.upstream.config)) return undefined
    entry.connection ??= open(entry)
    return entry.connection
  }

  /** Opens a caller's own connection. Of its notifications, only list changes are passed on to all callers. */
  const openOwn = (upstreamId: string, userId: string): UpstreamConnection | undefined => {
    const entry = findEnabled(upstreamId)
    if (entry === undefined) return undefined
    const connection = createConnection(entry, userId)
    connection.onNotification(({ method }) => {
      if (LIST_CHANGED.test(method)) notifications.notify(entry.upstream, { method })
    })
    return connection
  }

  /** Throws AccountError if the caller must connect their own account first. */
  const assertAccount = async (upstreamId: string, userId: string | undefined): Promise<void> => {
    const entry = findEnabled(upstreamId)
    if (entry === undefined || !isPerCaller(entry.upstream.config)) return
    if (userId === undefined) throw new AccountError(CALLER_UNKNOWN, undefined)
    await accounts.assertConnected(upstreamId, userId)
  }

  /** Opens a connection dedicated to one client, which answers the upstream's requests. The caller closes it. */
  const openDedicated = (
    upstreamId: string,
    setup: ClientSetup,
    userId: string | undefined,
  ): UpstreamConnection | undefined => {
    const entry = findEnabled(upstreamId)
    if (entry === undefined) return undefined
    if (!isPerCaller(entry.upstream.config)) return createConnection(entry, EVERYBODY, setup)
    return userId === undefined ? undefined : createConnection(entry, userId, setup)
  }

  const callers = createCallerConnections({
    open: openOwn,
    assertConnected: accounts.assertConnected,
    findLatestHolder: accounts.findLatestHolder,
  })

  /**
   * Returns the connection for the calls of one caller, who may be anonymous. If all callers share one account, this is
   * the same as `find`.
   */
  const findFor = (upstreamId: string, userId: string | undefined): UpstreamConnection | undefined => {
    const entry = findEnabled(upstreamId)
    if (entry === undefined || !isPerCaller(entry.upstream.config)) return find(upstreamId)
    return callers.forCaller(upstreamId, userId)
  }

  /**
   * Returns the connection for requests whose result is the same for all callers, such as lists. If each caller has
   * their own account, any one of these accounts is used.
   */
  const findForAll = (upstreamId: string): UpstreamConnection | undefined => {
    const entry = findEnabled(upstreamId)
    if (entry === undefined || !isPerCaller(entry.upstream.config)) return find(upstreamId)
    return callers.forAnybody(upstreamId)
  }

  /** Reports lists as changed, because a notification that said so was dropped. */
  const reportMissed = (upstreamId: string): void => {
    const entry = findEnabled(upstreamId)
    if (entry !== undefined) notifications.notify(entry.upstream, { method: 'notifications/tools/list_changed' })
  }

  /**
   * Records why the lists of a connected upstream could not be fetched, or that they could. Without its lists, the
   * upstream counts as failed.
   */
  const setListFault = (upstreamId: string, fault: { error: UpstreamError; nextTryAt: Date } | undefined): void => {
    const entry = findEnabled(upstreamId)
    if (entry === undefined) return
    const before = entry.listFault
    entry.listFault = fault && {
      kind: 'failed',
      why: fault.error.message,
      ownWords: fault.error.ownWords,
      since: before?.since ?? new Date(),
      nextTryAt: fault.nextTryAt,
    }
    if (before?.why !== entry.listFault?.why) listFaults.notify(entry.upstream)
  }

  /** Returns the failure to fetch the lists, if any, unless the connection itself failed. */
  const withListFault = (entry: Entry | undefined, state: UpstreamState): UpstreamState => {
    if (entry?.listFault === undefined || state.kind === 'failed') return state
    // An account that may not list the tools says nothing about the other accounts.
    if (callers.countConnected(entry.upstream.id) > 1) return state
    // The lists of an idle upstream are not fetched until it is used.
    return state.kind === 'idle' ? { ...entry.listFault, nextTryAt: undefined } : entry.listFault
  }

  /** Returns whether the upstream is connected or should be. Processes that were stopped while idle are not. */
  const isInUse = ({ upstream, connection }: Entry): boolean => {
    const kind = (connection?.state() ?? callers.stateOf(upstream.id))?.kind
    return kind === 'connected' || kind === 'connecting' || kind === 'failed'
  }

  const replace = ({ old, by }: Replacement): (() => void) => {
    const isReopened = by?.upstream.isEnabled === true && by.resolved.ok && isInUse(old)
    closeEntry(old)
    return () => replacements.notify(old.upstream.id, isReopened ? by.upstream : undefined)
  }

  const upstreams = createLoadedUpstreams({
    load,
    onListsMissed: reportMissed,
    onUpdate: (entries, replaced) => {
      const notices = replaced.map(replace)
      for (const { upstream } of entries) if (upstream.config.isEager) find(upstream.id)
      for (const notify of notices) notify()
    },
  })

  const subscriptions = [
    bus.subscribe('server_changed', ({ serverId }) => upstreams.syncKnown(serverId)),
    bus.subscribe('server_removed', ({ serverId }) => upstreams.syncKnown(serverId)),
    bus.subscribe('upstream_changed', async ({ serverId }) => {
      await upstreams.sync(serverId)
    }),
    bus.subscribe('access_changed', ({ userId }) => {
      callers.closeUser(userId)
      accessChanges.notify(userId)
    }),
    bus.subscribe('resync', upstreams.syncAll),
  ]

  return {
    sync: upstreams.sync,
    /** Reloads all known upstreams. */
    syncAll: upstreams.syncAll,
    find,
    findFor,
    findForAll,
    assertAccount,
    openDedicated,
    /** Returns the known upstreams, each with its connection if there is one. */
    listKnown: (): readonly Pick<Entry, 'upstream' | 'connection'>[] =>
      upstreams.list().map(entry => {
        const { upstream } = entry
        if (!isPerCaller(upstream.config)) return entry
        const isConnected = callers.stateOf(upstream.id)?.kind === 'connected'
        return { upstream, connection: isConnected ? callers.forAnybody(upstream.id) : undefined }
      }),
    stateOf: (upstream: Upstream): UpstreamState => {
      const entry = upstream.isEnabled ? upstreams.find(upstream.id) : undefined
      const state = entry && (entry.connection?.state() ?? callers.stateOf(upstream.id) ?? missingAccountState(entry))
      const shown = withListFault(entry, state ?? restingState(upstream))
      return isPerCaller(upstream.config) ? withoutOwnText(shown) : shown
    },
    setListFault,
    /** Returns the upstream as last loaded. */
    upstreamOf: (upstreamId: string): Upstream | undefined => upstreams.find(upstreamId)?.upstream,
    /** Returns the secrets in the upstream's configuration, to mask, and its organization. */
    resolvedOf: (upstreamId: string): Pick<ResolvedConfig, 'secrets' | 'organizationId'> | undefined => {
      const resolved = upstreams.find(upstreamId)?.resolved
      return resolved?.ok === true ? resolved.value : undefined
    },
    /** Returns the process's output and events, or an empty list without a connection. */
    logOf: (upstreamId: string): readonly LogLine[] => upstreams.find(upstreamId)?.connection?.log() ?? [],
    /** Returns how many of the upstream's messages were over the limit since its last quiet minute. */
    countDroppedMessages: (upstreamId: string): number => upstreams.find(upstreamId)?.messageLimit.countDropped() ?? 0,
    onNotification: notifications.add,
    onState: states.add,
    /** Called when the lists of a connected upstream can no longer be fetched, or can be fetched again. */
    onListFault: listFaults.add,
    /**
     * Called after a connection is closed because its upstream changed. `find` returns the new connection, if any.
     * `reopened` is the upstream if it was in use and should be connected again at once.
     */
    onReplaced: replacements.add,
    /** Called when a user's accounts may have changed and the user's connections are closed. */
    onAccessChanged: accessChanges.add,
    start: async (): Promise<void> => {
      for (const serverId of await listEagerServerIds()) await upstreams.sync(serverId)
    },
    /** Closes all connections and ends all processes. No connection is opened afterward. */
    close: async (): Promise<void> => {
      isClosed = true
      for (const end of subscriptions) end()
      await upstreams.close()
      for (const entry of upstreams.list()) closeEntry(entry)
      await callers.close()
      await closing.settle()
      await parts.processes.close()
    },
  }
}

export type UpstreamConnections = ReturnType<typeof createUpstreamConnections>
