import type { McpSubscription } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonObject } from '../../kernel/index.ts'
import { Anything } from '../anything.ts'
import { type UpstreamClient, type UpstreamConnection, UpstreamError } from '../connection/index.ts'
import type { UpstreamConnections } from '../upstream-connections.ts'

/** Takes the params of `notifications/resources/updated`. */
type OnUpdated = (params: JsonObject) => void

/** A resource that somebody subscribes to. */
type Wanted = {
  listeners: Set<OnUpdated>
  /** The connection that it was last subscribed over. */
  client: UpstreamClient | undefined
  /** Whether the upstream took it, so that it is to come back. */
  isOn: boolean
  ready: Promise<void>
}

/** All that is subscribed to at one upstream. */
type Watch = {
  upstreamId: string
  wanted: Map<string, Wanted>
  /** Its connection, which stays up meanwhile. */
  held: { connection: UpstreamConnection; letGo: () => void } | undefined
  /** In the newer era all URIs are of one stream. */
  stream: McpSubscription | undefined
  returning: NodeJS.Timeout | undefined
  /** The end of the latest return: one begins when the one before is over, or both would tell the same. */
  returned: Promise<void>
}

/** Before an upstream that went away is asked again: what crashes at once is not started without a pause. */
const RETURN_MS = 1_000

/**
 * Subscriptions to resources of upstreams: each resource is subscribed to once however many want to hear of it, and those
 * alone are told. They keep the connection up, and come back with it: whoever subscribed is told then that the resource
 * is updated, for what happened meanwhile was not heard.
 */
export const createResourceSubscriptions = (
  connections: Pick<UpstreamConnections, 'find' | 'onNotification' | 'onState' | 'onReplaced'>,
) => {
  const watches = new Map<string, Watch>()

  const hold = (watch: Watch): UpstreamConnection => {
    const connection = connections.find(watch.upstreamId)
    if (connection === undefined) throw new UpstreamError('aborted', 'The upstream is disabled, or was removed.')
    if (watch.held?.connection !== connection) {
      watch.held?.letGo()
      watch.held = { connection, letGo: connection.hold() }
    }
    return connection
  }

  /** One stream for all URIs in place of the one before. */
  const listen = async (watch: Watch, client: UpstreamClient, timeoutMs: number | undefined): Promise<void> => {
    const uris = [...watch.wanted.keys()]
    const before = watch.stream
    const subscription = await client.listen(
      { resourceSubscriptions: uris },
      timeoutMs === undefined ? {} : { timeout: timeoutMs },
    )
    watch.stream = subscription
    void before?.close()
    void subscription.closed.then(() => {
      if (watch.stream !== subscription) return
      watch.stream = undefined
      comeBackSoon(watch)
    })
  }

  const subscribeOver = async (watch: Watch, uri: string, wanted: Wanted): Promise<void> => {
    await hold(watch).run(async (client, options) => {
      wanted.client = client
      if (client.getProtocolEra() === 'modern') await listen(watch, client, options.timeout)
      else await client.request({ method: 'resources/subscribe', params: { uri } }, Anything, options)
    })
    wanted.isOn = true
  }

  /** Subscribes anew to all that is not subscribed to any more. */
  const returnOnce = async (watch: Watch): Promise<void> => {
    const connection = hold(watch)
    const client = await connection.get()
    const isModern = client.getProtocolEra() === 'modern'
    const isLost = ({ isOn, client: before }: Wanted): boolean =>
      isOn && (isModern ? watch.stream === undefined : before !== client)
    const lost = [...watch.wanted].filter(([, wanted]) => isLost(wanted))
    if (lost.length > 0 && isModern) await connection.run((_client, { timeout }) => listen(watch, client, timeout))
    for (const [uri, wanted] of lost) {
      if (!isModern) await subscribeOver(watch, uri, wanted)
      for (const listener of wanted.listeners) listener({ uri })
    }
  }
  /** One that cannot be reached is tried again by its connection, which then says that it is connected. */
  const comeBack = (watch: Watch): void => {
    watch.returned = watch.returned.then(() => returnOnce(watch)).catch(() => {})
  }
  function comeBackSoon(watch: Watch): void {
    if (watch.wanted.size === 0 || watch.returning !== undefined) return
    watch.returning = setTimeout(() => {
      watch.returning = undefined
      comeBack(watch)
    }, RETURN_MS)
    watch.returning.unref()
  }

  connections.onState(({ id }, { kind }) => {
    const watch = watches.get(id)
    if (watch === undefined) return
    if (kind === 'connected') comeBack(watch)
    else if (kind === 'failed' || kind === 'idle') comeBackSoon(watch)
  })
  connections.onReplaced(upstreamId => {
    const watch = watches.get(upstreamId)
    if (watch !== undefined) comeBackSoon(watch)
  })
  connections.onNotification(({ id }, { method, params }) => {
    const watch = method === 'notifications/resources/updated' ? watches.get(id) : undefined
    if (watch === undefined || !isJsonObject(params)) return
    const { _meta, ...told } = params
    const { uri } = told
    if (typeof uri !== 'string') return
    for (const [wanted, { listeners }] of watch.wanted) {
      // It may be a part of what was subscribed to (server/resources).
      if (uri === wanted || uri.startsWith(`${wanted}/`)) for (const listener of listeners) listener(told)
    }
  })

  const end = (watch: Watch, uri: string, wanted: Wanted): void => {
    if (watch.wanted.get(uri) !== wanted) return
    watch.wanted.delete(uri)
    const { held, stream } = watch
    const isLast = watch.wanted.size === 0
    if (isLast) {
      watches.delete(watch.upstreamId)
      clearTimeout(watch.returning)
      watch.stream = undefined
      void stream?.close()
    }
    const unsubscribe = async (): Promise<void> => {
      if (held === undefined || held.connection.state().kind !== 'connected') return
      await held.connection.run(async (client, options) => {
        if (client.getProtocolEra() === 'legacy') {
          await client.request({ method: 'resources/unsubscribe', params: { uri } }, Anything, options)
        } else if (!isLast) await listen(watch, client, options.timeout)
      })
    }
    // Nobody waits for it: what is told of it from now on reaches nobody.
    unsubscribe()
      .catch(() => {})
      .finally(() => {
        if (isLast) held?.letGo()
      })
  }

  return {
    /** Tells of updates of a resource until it is stopped. Rejects with why the upstream does not. */
    subscribe: async (upstreamId: string, uri: string, onUpdated: OnUpdated): Promise<() => void> => {
      const watch: Watch = watches.get(upstreamId) ?? {
        upstreamId,
        wanted: new Map(),
        held: undefined,
        stream: undefined,
        returning: undefined,
        returned: Promise.resolve(),
      }
      watches.set(upstreamId, watch)
      let wanted = watch.wanted.get(uri)
      if (wanted === undefined) {
        const fresh: Wanted = { listeners: new Set(), client: undefined, isOn: false, ready: Promise.resolve() }
        watch.wanted.set(uri, fresh)
        fresh.ready = subscribeOver(watch, uri, fresh)
        wanted = fresh
      }
      const { listeners, ready } = wanted
      // Of its own, so that one who subscribes twice may end it twice.
      const listener: OnUpdated = params => onUpdated(params)
      listeners.add(listener)
      const stop = (): void => {
        listeners.delete(listener)
        if (listeners.size === 0) end(watch, uri, wanted)
      }
      try {
        await ready
        return stop
      } catch (error) {
        stop()
        throw error
      }
    },
    close: (): void => {
      for (const { returning } of watches.values()) clearTimeout(returning)
      watches.clear()
    },
  }
}
