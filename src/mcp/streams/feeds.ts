import { type ListKind, listChangedMethod } from '../protocol.ts'
import type { MountedServer, Subscriber } from '../registry/mounted-server.ts'
import { createFeed, type Feed, type FeedConnection, parseEventId } from './feed.ts'

/** Disconnected streams kept per session. */
const MAX_BROKEN_FEEDS = 4

const listChanged = (kind: ListKind): string => JSON.stringify({ jsonrpc: '2.0', method: listChangedMethod(kind) })

/** All streams of a session, and its subscription to changes of the server. */
export const createFeeds = (now: () => number) => {
  const feeds = new Map<number, Feed>()
  let last = 0
  let mounted: MountedServer | undefined

  const forgetBroken = (): void => {
    const at = now()
    const broken = [...feeds.values()].filter(feed => feed.connection() === undefined)
    for (const [index, feed] of broken.entries()) {
      if (feed.isOver(at) || index < broken.length - MAX_BROKEN_FEEDS) feeds.delete(feed.number)
    }
  }
  const connections = (): FeedConnection[] => [...feeds.values()].flatMap(feed => feed.connection() ?? [])
  /**
   * Sends each message to exactly one stream (basic/transports): the newest open one, or else the newest disconnected
   * one, where the client finds it on reconnecting.
   */
  const notify = (json: string): void => {
    forgetBroken()
    const all = [...feeds.values()].filter(feed => feed.kind === 'notices')
    const target = all.findLast(feed => feed.connection() !== undefined) ?? all.at(-1)
    target?.send(json)
  }
  /** Streams of running calls end by themselves. */
  const end = (): void => {
    for (const feed of feeds.values()) {
      if (feed.kind === 'notices') feed.connection()?.stream.end()
    }
    feeds.clear()
    mounted?.unsubscribe(subscriber)
  }
  const subscriber: Subscriber = {
    listChanged: kind => notify(listChanged(kind)),
    checkAccess: (policy, userId) => {
      for (const connection of connections()) connection.checkAccess(policy, userId)
    },
    beat: () => {
      for (const connection of connections()) connection.beat()
      forgetBroken()
      if (feeds.size === 0) mounted?.unsubscribe(subscriber)
    },
    end,
  }
  /** Opens a stream and subscribes to changes of `on`. */
  const open = (kind: Feed['kind'], on: MountedServer): Feed => {
    mounted = on
    mounted.subscribe(subscriber)
    forgetBroken()
    const feed = createFeed(++last, kind)
    feeds.set(feed.number, feed)
    return feed
  }
  return {
    open,
    /**
     * Returns the stream that an event id belongs to and the number of that event, or a new stream if the id is
     * unknown.
     */
    resume: (lastEventId: string | undefined, on: MountedServer): { feed: Feed; after: number } => {
      const wanted = parseEventId(lastEventId)
      const known = wanted === undefined ? undefined : feeds.get(wanted.number)
      if (wanted === undefined || known === undefined) return { feed: open('notices', on), after: 0 }
      mounted = on
      mounted.subscribe(subscriber)
      return { feed: known, after: wanted.sequence }
    },
    forgetBroken,
    notify,
    /** Whether a stream for notifications is open. */
    hasNotices: (): boolean =>
      [...feeds.values()].some(feed => feed.kind === 'notices' && feed.connection() !== undefined),
    hasOpenStream: (): boolean => connections().length > 0,
    end,
  }
}
export type Feeds = ReturnType<typeof createFeeds>
