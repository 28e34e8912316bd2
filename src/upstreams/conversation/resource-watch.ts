import type { McpSubscription } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { Anything } from '../connection/anything.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import type { UpstreamClient } from '../connection/open-connection.ts'
import { UpstreamError } from '../connection/upstream-error.ts'

/** Takes the params of `notifications/resources/updated`. */
export type OnUpdated = (params: JsonObject) => void

/** A resource that somebody subscribes to. */
type Wanted = {
  listeners: Set<OnUpdated>
  /** The connection that it was last subscribed over. */
  client: UpstreamClient | undefined
  /** Whether the upstream took it, so that it is to come back. */
  isOn: boolean
  ready: Promise<void>
}

/** The stream of the newer era, which is for all URIs, with those that it was asked for and those it is for. */
type Stream = { subscription: McpSubscription; asked: ReadonlySet<string>; honored: ReadonlySet<string> }

export type ResourceWatchOptions = {
  /** The connection as it is now. Throws UpstreamError. */
  find: () => UpstreamConnection
  /** Nobody subscribes to anything any more. */
  onOver: () => void
}

/** Resources of one upstream that are subscribed to at once, by all clients together. */
const MAX_WANTED = 10_000
/** Before an upstream that went away is asked again: what crashes at once is not started without a pause. */
const RETURN_MS = 1_000
/** Longest URI of an update that is looked at: lists hold none that is longer. */
const MAX_URI_CHARS = 2_048

/** The URI, and those that it may be a part of (server/resources): what is before each of its slashes. */
const wholesOf = (uri: string): string[] =>
  uri.length > MAX_URI_CHARS
    ? []
    : [uri, ...[...uri.matchAll(/\//g)].map(({ index }) => uri.slice(0, index)).filter(whole => whole !== uri)]

const isSame = (asked: ReadonlySet<string>, wanted: ReadonlyMap<string, Wanted>): boolean =>
  asked.size === wanted.size && [...asked].every(uri => wanted.has(uri))

const drop = (stream: Stream | undefined): void => void stream?.subscription.close().catch(() => {})

/**
 * All that is subscribed to at one upstream: each resource once however many want to hear of it, and those alone are told.
 * It keeps the connection up, and comes back with it: whoever subscribed is told then that the resource is updated, for
 * what happened meanwhile was not heard.
 */
export const createResourceWatch = ({ find, onOver }: ResourceWatchOptions) => {
  const wanted = new Map<string, Wanted>()
  /** What the upstream is being told that it is not wanted any more. */
  const leaving = new Map<string, Promise<void>>()
  let held: { connection: UpstreamConnection; letGo: () => void } | undefined
  let stream: Stream | undefined
  let returning: NodeJS.Timeout | undefined
  let isOver = false
  let last: Promise<unknown> = Promise.resolve()

  /** One after the other: of two streams that are opened at once the older list of URIs might win. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const own = last.then(work)
    last = own.catch(() => {})
    return own
  }

  const hold = (): UpstreamConnection => {
    if (isOver) throw new UpstreamError('aborted', 'Nobody subscribes to it any more.')
    const connection = find()
    if (held?.connection !== connection) {
      held?.letGo()
      held = { connection, letGo: connection.hold() }
    }
    return connection
  }

  /** A stream for what is wanted now in place of the one before. */
  const listen = (client: UpstreamClient, timeoutMs: number | undefined): Promise<void> =>
    inTurn(async () => {
      const before = stream
      if (isOver || (before !== undefined && isSame(before.asked, wanted))) return
      if (wanted.size > 0) {
        const asked = new Set(wanted.keys())
        const options = timeoutMs === undefined ? {} : { timeout: timeoutMs }
        const subscription = await client.listen({ resourceSubscriptions: [...asked] }, options)
        const own = { subscription, asked, honored: new Set(subscription.honoredFilter.resourceSubscriptions ?? []) }
        stream = own
        void subscription.closed.then(() => {
          if (stream !== own) return
          stream = undefined
          comeBackSoon()
        })
      } else stream = undefined
      drop(before)
    })

  const subscribeOver = async (uri: string, one: Wanted): Promise<void> => {
    await leaving.get(uri)
    await hold().run(async (client, options) => {
      one.client = client
      if (client.getProtocolEra() === 'legacy') {
        await client.request({ method: 'resources/subscribe', params: { uri } }, Anything, options)
        return
      }
      await listen(client, options.timeout)
      if (stream?.honored.has(uri) === true || wanted.get(uri) !== one) return
      throw new UpstreamError('protocol', 'The upstream does not tell of changes of this resource.')
    })
    one.isOn = true
  }

  /** Subscribes anew to all that is not subscribed to any more. */
  const returnOnce = async (): Promise<void> => {
    if (wanted.size === 0) return
    const connection = hold()
    const client = await connection.get()
    const isModern = client.getProtocolEra() === 'modern'
    const isLost = ({ isOn, client: before }: Wanted): boolean =>
      isOn && (isModern ? stream === undefined : before !== client)
    const lost = [...wanted].filter(([, one]) => isLost(one))
    if (lost.length > 0 && isModern) await connection.run((_client, { timeout }) => listen(client, timeout))
    for (const [uri, one] of lost) {
      // One that it refuses now does not keep the others from coming back.
      if (!isModern) await subscribeOver(uri, one).catch(() => {})
      for (const listener of one.listeners) listener({ uri })
    }
  }
  /** The end of the latest return: one begins when the one before is over, or both would tell the same. */
  let returned: Promise<void> = Promise.resolve()
  /** One that cannot be reached is tried again by its connection, which then says that it is connected. */
  const comeBack = (): void => {
    returned = returned.then(returnOnce).catch(() => {})
  }
  function comeBackSoon(): void {
    if (wanted.size === 0 || returning !== undefined) return
    returning = setTimeout(() => {
      returning = undefined
      comeBack()
    }, RETURN_MS)
    returning.unref()
  }

  const close = (): void => {
    isOver = true
    clearTimeout(returning)
    drop(stream)
    stream = undefined
    held?.letGo()
    held = undefined
    onOver()
  }

  const unsubscribe = async (uri: string, { client: before }: Wanted): Promise<void> => {
    if (before === undefined || held?.connection.state().kind !== 'connected') return
    await held.connection.run(async (client, options) => {
      if (client.getProtocolEra() === 'modern') await listen(client, options.timeout)
      else await client.request({ method: 'resources/unsubscribe', params: { uri } }, Anything, options)
    })
  }

  const end = (uri: string, one: Wanted): void => {
    if (wanted.get(uri) !== one) return
    wanted.delete(uri)
    // No client waits for it: what is told of it from now on reaches nobody.
    const left = unsubscribe(uri, one)
      .catch(() => {})
      .then(() => {
        if (leaving.get(uri) === left) leaving.delete(uri)
        if (wanted.size === 0 && leaving.size === 0 && !isOver) close()
      })
    leaving.set(uri, left)
  }

  const want = (uri: string): Wanted => {
    const known = wanted.get(uri)
    if (known !== undefined) return known
    if (wanted.size >= MAX_WANTED) {
      const why = `As many of its resources as may be, ${MAX_WANTED}, are subscribed to; try again later.`
      throw new UpstreamError('unavailable', why)
    }
    const one: Wanted = { listeners: new Set(), client: undefined, isOn: false, ready: Promise.resolve() }
    wanted.set(uri, one)
    one.ready = subscribeOver(uri, one)
    return one
  }

  return {
    /** Tells of updates of a resource until it is stopped. Rejects with why the upstream does not. */
    subscribe: async (uri: string, onUpdated: OnUpdated): Promise<() => void> => {
      const one = want(uri)
      // Of its own, so that one who subscribes twice may end it twice.
      const listener: OnUpdated = params => onUpdated(params)
      one.listeners.add(listener)
      const stop = (): void => {
        one.listeners.delete(listener)
        if (one.listeners.size === 0) end(uri, one)
      }
      try {
        await one.ready
        return stop
      } catch (error) {
        stop()
        throw error
      }
    },
    /** Takes the params of a notification that a resource is updated. */
    tell: (params: unknown): void => {
      if (!isJsonObject(params)) return
      const { _meta, ...told } = params
      const { uri } = told
      if (typeof uri !== 'string') return
      for (const whole of wholesOf(uri)) for (const listener of wanted.get(whole)?.listeners ?? []) listener(told)
    },
    /** The connection is there again. */
    comeBack,
    /** The connection is lost, or another one. */
    comeBackSoon,
    close,
  }
}
export type ResourceWatch = ReturnType<typeof createResourceWatch>
