import type { ResponseStream } from '../client-channel.ts'
import { headerOf } from '../headers.ts'
import type { SessionVersion } from '../protocol.ts'
import type { ServerRequest } from '../server-request.ts'
import { resumeSubscriptions } from '../sessions/session-upstreams.ts'
import type { Session } from '../sessions/sessions.ts'
import type { Feed } from './feed.ts'
import { createFeeds } from './feeds.ts'
import type { StreamAccess } from './stream-access.ts'

/** Since this version clients accept an event with an id and no data. */
const PRIMING_VERSION: SessionVersion = '2025-11-25'

/** Opens the event streams of sessions: their own, and those of slow responses. */
export const createSessionStreams = (access: StreamAccess, now: () => number) => {
  const connect = (request: ServerRequest, session: Session, { feed, after }: { feed: Feed; after: number }): void => {
    const first = session.version >= PRIMING_VERSION ? feed.prime(after) : ''
    const stream = request.mounted.openStream(request.http, first, () => {
      feed.detach(stream, now())
      session.feeds?.forgetBroken()
    })
    feed.attach({ stream, ...access.watch(request, stream, stream.end) }, after)
  }

  /** Streams the response of a slow call. The client can resume it after a disconnect. */
  const streamResponse = (request: ServerRequest, session: Session): ResponseStream => {
    session.feeds ??= createFeeds(now)
    const feed = session.feeds.open('answer', request.mounted)
    connect(request, session, { feed, after: 0 })
    return { send: feed.send, end: feed.finish, isResumable: true }
  }

  /** Opens another stream of a session, or resumes a disconnected one. */
  const openStream = (request: ServerRequest, session: Session): void => {
    session.feeds ??= createFeeds(now)
    const place = session.feeds.resume(headerOf(request.http.headers, 'last-event-id'), request.mounted)
    connect(request, session, place)
    void resumeSubscriptions(request.mounted.router, session)
  }
  return { streamResponse, openStream }
}
export type SessionStreams = ReturnType<typeof createSessionStreams>
