import type { Caller } from '../execution/index.ts'
import type { Exchange } from './exchange.ts'
import type { Feed } from './feed.ts'
import { createFeeds } from './feeds.ts'
import { headerOf } from './headers.ts'
import type { Mounted } from './mounted.ts'
import type { SessionVersion } from './protocol.ts'
import type { StreamedAnswer } from './run-call.ts'
import { resumeSubscriptions } from './session-ties.ts'
import type { Session } from './sessions.ts'
import type { StreamAccess } from './stream-access.ts'

/** From here on clients know what to do with an event that has an id and no data. */
const PRIMING_VERSION: SessionVersion = '2025-11-25'

/** How sessions get event streams: those they open, and answers that became streams. */
export const createSessionStreams = (access: StreamAccess, now: () => number) => {
  const connect = (
    exchange: Exchange,
    mounted: Mounted,
    session: Session,
    caller: Caller,
    { feed, after }: { feed: Feed; after: number },
  ): void => {
    const first = session.version >= PRIMING_VERSION ? feed.prime(after) : ''
    const stream = mounted.openStream(exchange, first, () => {
      feed.detach(stream, now())
      session.feeds?.forgetBroken()
    })
    feed.attach({ stream, ...access.watch(exchange, mounted, caller, stream, stream.end) }, after)
  }

  /** The answer of a slow call; should its connection break, the client can come back for it. */
  const streamAnswer = (exchange: Exchange, mounted: Mounted, session: Session, caller: Caller): StreamedAnswer => {
    session.feeds ??= createFeeds(now)
    const feed = session.feeds.open('answer', mounted)
    connect(exchange, mounted, session, caller, { feed, after: 0 })
    return { send: feed.send, end: feed.finish, isResumable: true }
  }

  /** One stream more of a session, or one that broke and goes on where it stopped. */
  const openStream = (exchange: Exchange, mounted: Mounted, session: Session, caller: Caller): void => {
    session.feeds ??= createFeeds(now)
    const place = session.feeds.resume(headerOf(exchange.headers, 'last-event-id'), mounted)
    connect(exchange, mounted, session, caller, place)
    void resumeSubscriptions(mounted.router, session)
  }
  return { streamAnswer, openStream }
}
export type SessionStreams = ReturnType<typeof createSessionStreams>
