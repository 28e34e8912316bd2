import { CUT_OFF } from '../../lib/http/drain.ts'
import type { ResponseStream } from '../client-channel.ts'
import { headerOf } from '../headers.ts'
import type { SessionVersion } from '../protocol.ts'
import type { ServerRequest } from '../server-request.ts'
import type { Session } from '../sessions/session.ts'
import { resumeSubscriptions } from '../sessions/session-upstreams.ts'
import { RETRY, type ResumableStream } from './resumable-stream.ts'
import { createResumableStreams } from './resumable-streams.ts'
import type { WatchAccess } from './stream-access.ts'

/** The first version whose clients accept an event with an id and no data. */
const PRIMING_VERSION: SessionVersion = '2025-11-25'

type ResumePoint = { resumable: ResumableStream; after: number }

/** Opens the event streams of sessions, for notifications and for slow responses. */
export const createSessionStreams = (watchAccess: WatchAccess, now: () => number) => {
  const connect = (request: ServerRequest, session: Session, { resumable, after }: ResumePoint): void => {
    const first = session.version >= PRIMING_VERSION ? resumable.prime(after) : `${RETRY}\n`
    const stream = request.mounted.openStream(request.http, first, () => {
      resumable.detach(stream, now())
      session.streams?.forgetBroken()
    })
    request.http.raw.once(CUT_OFF, resumable.onCutOff)
    resumable.attach({ stream, ...watchAccess(request, stream, stream.end) }, after)
  }

  /** Opens a stream for the response to a slow call. A disconnected client can resume the stream. */
  const streamResponse = (request: ServerRequest, session: Session, onCutOff: () => void): ResponseStream => {
    session.streams ??= createResumableStreams(now)
    const resumable = session.streams.open('response', request.mounted, onCutOff)
    connect(request, session, { resumable, after: 0 })
    // The server sends comments on all streams of its sessions.
    return { send: resumable.send, beat: () => {}, end: resumable.finish, isResumable: true }
  }

  /** Opens a notification stream for a session, or resumes a disconnected stream. */
  const openStream = (request: ServerRequest, session: Session): void => {
    session.streams ??= createResumableStreams(now)
    const point = session.streams.resume(headerOf(request.http.headers, 'last-event-id'), request.mounted)
    connect(request, session, point)
    void resumeSubscriptions(request.mounted.router, session)
  }
  return { streamResponse, openStream }
}
export type SessionStreams = ReturnType<typeof createSessionStreams>
