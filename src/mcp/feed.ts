import { randomBytes } from 'node:crypto'
import type { AccessPolicy } from '../execution/index.ts'
import { type EventStream, messageEvent } from './event-stream.ts'
import type { Mounted, Subscriber } from './mounted.ts'
import { TOOLS_CHANGED } from './protocol.ts'

/** Events kept for a client that comes back, per stream. */
const MAX_KEPT_EVENTS = 64
const MAX_KEPT_CHARACTERS = 256 * 1_024
/** How long a broken stream is waited for. */
const RESUME_WITHIN_MS = 5 * 60 * 1_000
/** Broken streams of one session that are waited for. */
const MAX_BROKEN_FEEDS = 4

/** Tells ids of this process from those of another, whose events we do not have. */
const PROCESS = randomBytes(3).toString('hex')
const toolsChanged = JSON.stringify({ jsonrpc: '2.0', method: TOOLS_CHANGED })

/** A connection that carries a feed, and how to ask again for its caller. */
export type FeedConnection = { stream: EventStream; accessChanged: (policy: AccessPolicy) => void }

/** One stream of a session as the client sees it: it outlives connections, and its events have ids. */
const createFeed = (number: number) => {
  let connection: FeedConnection | undefined
  let sequence = 0
  let kept: { sequence: number; event: string }[] = []
  let brokenAt = 0
  const idOf = (at: number): string => `${PROCESS}-${number}-${at}`
  const keep = (event: string): void => {
    kept.push({ sequence, event })
    let characters = kept.reduce((sum, { event: { length } }) => sum + length, 0)
    while (kept.length > MAX_KEPT_EVENTS || characters > MAX_KEPT_CHARACTERS) {
      characters -= kept.shift()?.event.length ?? characters
    }
  }
  return {
    number,
    connection: () => connection,
    send: (json: string): void => {
      sequence += 1
      const event = messageEvent(json, idOf(sequence))
      keep(event)
      connection?.stream.send(event)
    },
    /** Goes on behind the event numbered `after`. A connection that was still there is the one that broke unseen. */
    attach: (next: FeedConnection, after: number): void => {
      connection?.stream.end()
      connection = next
      kept = kept.filter(event => event.sequence > after)
      for (const { event } of kept) next.stream.send(event)
    },
    detach: (stream: EventStream, at: number): void => {
      if (connection?.stream !== stream) return
      connection = undefined
      brokenAt = at
    },
    isLapsed: (at: number): boolean => connection === undefined && at - brokenAt > RESUME_WITHIN_MS,
    /** An id and nothing else, so that the client can come back before the first event (2025-11-25, transports). */
    prime: (): string => `id: ${idOf(sequence)}\ndata: \n\n`,
  }
}
export type Feed = ReturnType<typeof createFeed>

/** The `Last-Event-ID` of a stream of this process, taken apart. */
const parseEventId = (id: string | undefined): { number: number; sequence: number } | undefined => {
  const [, process, number, sequence] = /^([0-9a-f]{6})-(\d{1,9})-(\d{1,9})$/.exec(id ?? '') ?? []
  return process === PROCESS ? { number: Number(number), sequence: Number(sequence) } : undefined
}

/** All streams of one session. Each message goes to one of them, never to several (basic/transports). */
export const createFeeds = (now: () => number) => {
  const feeds = new Map<number, Feed>()
  let last = 0
  let mounted: Mounted | undefined

  const forgetBroken = (): void => {
    const at = now()
    const broken = [...feeds.values()].filter(feed => feed.connection() === undefined)
    for (const [index, feed] of broken.entries()) {
      if (feed.isLapsed(at) || index < broken.length - MAX_BROKEN_FEEDS) feeds.delete(feed.number)
    }
  }
  const connections = (): FeedConnection[] => [...feeds.values()].flatMap(feed => feed.connection() ?? [])
  /** To the newest open stream; where all are broken, to the newest of those, for the client that comes back. */
  const send = (json: string): void => {
    forgetBroken()
    const all = [...feeds.values()]
    const target = all.findLast(feed => feed.connection() !== undefined) ?? all.at(-1)
    target?.send(json)
  }
  const end = (): void => {
    for (const { stream } of connections()) stream.end()
    feeds.clear()
    mounted?.unsubscribe(subscriber)
  }
  const subscriber: Subscriber = {
    openStreams: () => connections().length,
    toolsChanged: () => send(toolsChanged),
    accessChanged: policy => {
      for (const connection of connections()) connection.accessChanged(policy)
    },
    beat: () => {
      for (const { stream } of connections()) stream.beat()
      forgetBroken()
      if (feeds.size === 0) mounted?.unsubscribe(subscriber)
    },
    end,
  }
  return {
    /** The stream that an event id belongs to, or a new one; changes of `on` are told from here on. */
    open: (lastEventId: string | undefined, on: Mounted): { feed: Feed; after: number } => {
      mounted = on
      mounted.subscribe(subscriber)
      forgetBroken()
      const wanted = parseEventId(lastEventId)
      const known = wanted === undefined ? undefined : feeds.get(wanted.number)
      if (wanted !== undefined && known !== undefined) return { feed: known, after: wanted.sequence }
      const feed = createFeed(++last)
      feeds.set(feed.number, feed)
      return { feed, after: 0 }
    },
    hasOpenStream: (): boolean => connections().length > 0,
    end,
  }
}
export type Feeds = ReturnType<typeof createFeeds>
