import { createFeed, type Feed, type FeedConnection, parseEventId } from './feed.ts'
import type { Mounted, Subscriber } from './mounted.ts'
import { type ListKind, listChangedMethod } from './protocol.ts'

/** Broken streams of one session that are waited for. */
const MAX_BROKEN_FEEDS = 4

const listChanged = (kind: ListKind): string => JSON.stringify({ jsonrpc: '2.0', method: listChangedMethod(kind) })

/** All streams of one session, and its place among the subscribers of its server. */
export const createFeeds = (now: () => number) => {
  const feeds = new Map<number, Feed>()
  let last = 0
  let mounted: Mounted | undefined

  const forgetBroken = (): void => {
    const at = now()
    const broken = [...feeds.values()].filter(feed => feed.connection() === undefined)
    for (const [index, feed] of broken.entries()) {
      if (feed.isOver(at) || index < broken.length - MAX_BROKEN_FEEDS) feeds.delete(feed.number)
    }
  }
  const connections = (): FeedConnection[] => [...feeds.values()].flatMap(feed => feed.connection() ?? [])
  /**
   * Each message goes to one stream, never to several (basic/transports): the newest open one or, where all are
   * broken, the newest of those, for the client that comes back.
   */
  const notify = (json: string): void => {
    forgetBroken()
    const all = [...feeds.values()].filter(feed => feed.kind === 'notices')
    const target = all.findLast(feed => feed.connection() !== undefined) ?? all.at(-1)
    target?.send(json)
  }
  /** Answers under way come to their end by themselves. */
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
  /** A new stream; changes of `on` are told from here on. */
  const open = (kind: Feed['kind'], on: Mounted): Feed => {
    mounted = on
    mounted.subscribe(subscriber)
    forgetBroken()
    const feed = createFeed(++last, kind)
    feeds.set(feed.number, feed)
    return feed
  }
  return {
    open,
    /** The stream an event id belongs to and the number of that event, or a new stream when it is none of ours. */
    resume: (lastEventId: string | undefined, on: Mounted): { feed: Feed; after: number } => {
      const wanted = parseEventId(lastEventId)
      const known = wanted === undefined ? undefined : feeds.get(wanted.number)
      if (wanted === undefined || known === undefined) return { feed: open('notices', on), after: 0 }
      mounted = on
      mounted.subscribe(subscriber)
      return { feed: known, after: wanted.sequence }
    },
    forgetBroken,
    notify,
    /** Whether a stream is open for what the server has to say by itself. */
    hasNotices: (): boolean =>
      [...feeds.values()].some(feed => feed.kind === 'notices' && feed.connection() !== undefined),
    hasOpenStream: (): boolean => connections().length > 0,
    end,
  }
}
export type Feeds = ReturnType<typeof createFeeds>
