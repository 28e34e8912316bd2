import type { McpSubscription } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import { AnyResult } from '../connection/mcp-client.ts'
import type { UpstreamClient } from '../connection/open-connection.ts'
import { UpstreamError } from '../connection/upstream-error.ts'

export type OnUpdated = (params: JsonObject) => void

type Subscription = {
  listeners: Set<OnUpdated>
  /** The connection that the last subscription was made on. */
  client: UpstreamClient | undefined
  /** Whether the upstream accepted the subscription. Only accepted subscriptions are restored after a reconnect. */
  isAccepted: boolean
  ready: Promise<void>
}

/** The stateless era's stream for all URIs, with the requested URIs and the accepted URIs. */
type Stream = { subscription: McpSubscription; asked: ReadonlySet<string>; honored: ReadonlySet<string> }

export type ResourceWatchOptions = {
  /** Returns the current connection. Throws UpstreamError. */
  find: () => UpstreamConnection
  /** Called when the last subscription has ended. */
  onEmpty: () => void
}

/** Maximum number of subscribed resources of one upstream, across all clients. */
const MAX_SUBSCRIPTIONS = 10_000
/** Delay before reconnecting to a lost upstream, so that a crashing process is not restarted in a tight loop. */
const RESTORE_DELAY_MS = 1_000
/** Maximum length of a URI. Updates with longer URIs are ignored, because no list contains them. */
const MAX_URI_CHARS = 2_048

/** Returns the URI and those that contain it (server/resources): every prefix that ends before a slash. */
const selfAndParents = (uri: string): string[] =>
  uri.length > MAX_URI_CHARS
    ? []
    : [uri, ...[...uri.matchAll(/\//g)].map(({ index }) => uri.slice(0, index)).filter(parent => parent !== uri)]

const isSame = (asked: ReadonlySet<string>, subscriptions: ReadonlyMap<string, Subscription>): boolean =>
  asked.size === subscriptions.size && [...asked].every(uri => subscriptions.has(uri))

const drop = (stream: Stream | undefined): void => void stream?.subscription.close().catch(() => {})

/**
 * Manages all subscriptions at one upstream. Subscribes to each resource once for all listeners. Keeps the connection
 * open and restores subscriptions after a reconnect. Listeners then get an update, because notifications may have been
 * missed.
 */
export const createResourceWatch = ({ find, onEmpty }: ResourceWatchOptions) => {
  const subscriptions = new Map<string, Subscription>()
  /** Unsubscribe requests in progress. */
  const unsubscribing = new Map<string, Promise<void>>()
  let current: { connection: UpstreamConnection; release: () => void } | undefined
  let stream: Stream | undefined
  let restoreTimer: NodeJS.Timeout | undefined
  let isClosed = false
  let last: Promise<unknown> = Promise.resolve()

  /** Runs one at a time. Of two concurrent streams, the one with the outdated list of URIs could win. */
  const inSequence = <T>(work: () => Promise<T>): Promise<T> => {
    const own = last.then(work)
    last = own.catch(() => {})
    return own
  }

  const hold = (): UpstreamConnection => {
    if (isClosed) throw new UpstreamError('aborted', 'All subscriptions have ended.')
    const connection = find()
    if (current?.connection !== connection) {
      current?.release()
      current = { connection, release: connection.hold() }
    }
    return connection
  }

  /** Replaces the stream with one for the current URIs. */
  const listen = (client: UpstreamClient, timeoutMs: number | undefined): Promise<void> =>
    inSequence(async () => {
      const before = stream
      if (isClosed || (before !== undefined && isSame(before.asked, subscriptions))) return
      if (subscriptions.size > 0) {
        const asked = new Set(subscriptions.keys())
        const options = timeoutMs === undefined ? {} : { timeout: timeoutMs }
        const subscription = await client.listen({ resourceSubscriptions: [...asked] }, options)
        const own = { subscription, asked, honored: new Set(subscription.honoredFilter.resourceSubscriptions ?? []) }
        stream = own
        void subscription.closed.then(() => {
          if (stream !== own) return
          stream = undefined
          restoreLater()
        })
      } else stream = undefined
      drop(before)
    })

  const subscribeOver = async (uri: string, entry: Subscription): Promise<void> => {
    await unsubscribing.get(uri)
    await hold().run(async (client, options) => {
      entry.client = client
      if (client.getProtocolEra() === 'legacy') {
        await client.request({ method: 'resources/subscribe', params: { uri } }, AnyResult, options)
        return
      }
      await listen(client, options.timeout)
      if (stream?.honored.has(uri) === true || subscriptions.get(uri) !== entry) return
      throw new UpstreamError('protocol', 'The MCP server does not send updates for this resource.')
    })
    entry.isAccepted = true
  }

  const restoreLost = async (): Promise<void> => {
    if (subscriptions.size === 0) return
    const connection = hold()
    const client = await connection.get()
    const isModern = client.getProtocolEra() === 'modern'
    const isLost = ({ isAccepted, client: before }: Subscription): boolean =>
      isAccepted && (isModern ? stream === undefined : before !== client)
    const lost = [...subscriptions].filter(([, entry]) => isLost(entry))
    if (lost.length > 0 && isModern) await connection.run((_client, { timeout }) => listen(client, timeout))
    for (const [uri, entry] of lost) {
      // If one subscription is refused, the others must still be restored.
      if (!isModern) await subscribeOver(uri, entry).catch(() => {})
      for (const listener of entry.listeners) listener({ uri })
    }
  }
  /** The last restore. The next one starts after it, so that they do not send the same updates twice. */
  let lastRestore: Promise<void> = Promise.resolve()
  /** If the upstream is unreachable, its connection retries and then reports that it is connected. */
  const restore = (): void => {
    lastRestore = lastRestore.then(restoreLost).catch(() => {})
  }
  function restoreLater(): void {
    if (subscriptions.size === 0 || restoreTimer !== undefined) return
    restoreTimer = setTimeout(() => {
      restoreTimer = undefined
      restore()
    }, RESTORE_DELAY_MS)
    restoreTimer.unref()
  }

  const close = (): void => {
    isClosed = true
    clearTimeout(restoreTimer)
    drop(stream)
    stream = undefined
    current?.release()
    current = undefined
    onEmpty()
  }

  const unsubscribe = async (uri: string, { client: before }: Subscription): Promise<void> => {
    if (before === undefined || current?.connection.state().kind !== 'connected') return
    await current.connection.run(async (client, options) => {
      if (client.getProtocolEra() === 'modern') await listen(client, options.timeout)
      else await client.request({ method: 'resources/unsubscribe', params: { uri } }, AnyResult, options)
    })
  }

  const end = (uri: string, entry: Subscription): void => {
    if (subscriptions.get(uri) !== entry) return
    subscriptions.delete(uri)
    // Unsubscribe in the background, because the listeners are already gone.
    const unsubscribed = unsubscribe(uri, entry)
      .catch(() => {})
      .then(() => {
        if (unsubscribing.get(uri) === unsubscribed) unsubscribing.delete(uri)
        if (subscriptions.size === 0 && unsubscribing.size === 0 && !isClosed) close()
      })
    unsubscribing.set(uri, unsubscribed)
  }

  const getOrSubscribe = (uri: string): Subscription => {
    const known = subscriptions.get(uri)
    if (known !== undefined) return known
    if (subscriptions.size >= MAX_SUBSCRIPTIONS) {
      const why = `The MCP server already has ${MAX_SUBSCRIPTIONS} subscribed resources. Try again later.`
      throw new UpstreamError('unavailable', why)
    }
    const entry: Subscription = { listeners: new Set(), client: undefined, isAccepted: false, ready: Promise.resolve() }
    subscriptions.set(uri, entry)
    entry.ready = subscribeOver(uri, entry)
    return entry
  }

  return {
    /** Calls `onUpdated` until the returned function is called. Rejects if the upstream refuses. */
    subscribe: async (uri: string, onUpdated: OnUpdated): Promise<() => void> => {
      const entry = getOrSubscribe(uri)
      // Use a new function for each call, so that two subscriptions must be stopped separately.
      const listener: OnUpdated = params => onUpdated(params)
      entry.listeners.add(listener)
      const stop = (): void => {
        entry.listeners.delete(listener)
        if (entry.listeners.size === 0) end(uri, entry)
      }
      try {
        await entry.ready
        return stop
      } catch (error) {
        stop()
        throw error
      }
    },
    /** Dispatches the params of an update notification. */
    dispatch: (params: unknown): void => {
      if (!isJsonObject(params)) return
      const { _meta, ...update } = params
      const { uri } = update
      if (typeof uri !== 'string') return
      for (const parent of selfAndParents(uri))
        for (const listener of subscriptions.get(parent)?.listeners ?? []) listener(update)
    },
    /** Restores subscriptions. Call it after a reconnect. */
    restore,
    /** Restores subscriptions after a delay. Call it after the connection was lost or replaced. */
    restoreLater,
    close,
  }
}
export type ResourceWatch = ReturnType<typeof createResourceWatch>
