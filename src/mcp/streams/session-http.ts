import type { BodyLimits } from '../body.ts'
import type { Challenges } from '../challenges.ts'
import type { ReportFault } from '../respond.ts'
import { acceptsEventStream, headerOf } from '../headers.ts'
import { type HttpExchange, writeHead, writeRefusal } from '../http-exchange.ts'
import { createPost } from '../post.ts'
import { ERROR, isStatelessVersion } from '../protocol.ts'
import { isRefusal, type Refusal, refusal } from '../rpc-response.ts'
import type { ServerRequest } from '../server-request.ts'
import { createSessionPosts } from '../sessions/session-posts.ts'
import { checkVersion, findSession, notAcceptable, SESSION_HEADER } from '../sessions/session-requirements.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { RequestStates } from '../stateless/request-states.ts'
import { createStatelessCalls } from '../stateless/stateless-calls.ts'
import { type CheckRoom, createListen } from './listen.ts'
import { createSessionStreams } from './session-streams.ts'
import type { StreamAccess } from './stream-access.ts'

export type StreamableHttpOptions = {
  sessions: Sessions
  states: RequestStates
  limits: BodyLimits & { maxSessionsPerServer: number }
  challenges: Challenges
  checkRoom: CheckRoom
  access: StreamAccess
  now: () => number
  report: ReportFault
}

/** GET and DELETE exist in the session era only. */
const namesStateless = ({ headers }: HttpExchange): boolean => {
  const version = headerOf(headers, 'mcp-protocol-version')
  return version !== undefined && isStatelessVersion(version)
}

/** Handles admitted requests to `/s/:uuid`: POST (see `post.ts`), GET and DELETE. */
export const createStreamableHttp = (options: StreamableHttpOptions) => {
  const { sessions, states, limits, challenges, checkRoom, access, now, report } = options
  const { maxSessionsPerServer } = limits
  const streams = createSessionStreams(access, now)
  const post = createPost({
    limits,
    challenges,
    sessions,
    sessionPosts: createSessionPosts({ sessions, streams, maxSessionsPerServer, report }),
    statelessCalls: createStatelessCalls(states, report),
    listen: createListen(checkRoom, access),
    report,
  })

  /** Opens a stream of a session. */
  const get = (request: ServerRequest): Refusal | undefined => {
    const { http, mounted } = request
    if (namesStateless(http)) return methodNotAllowed('POST')
    if (!acceptsEventStream(http.headers)) return notAcceptable('text/event-stream')
    const session = findSession(sessions, request)
    if (isRefusal(session)) return session
    const refused = checkVersion(http) ?? checkRoom(mounted)
    if (refused === undefined) streams.openStream(request, session)
    return refused
  }

  /** Ends a session. */
  const remove = (request: ServerRequest): Refusal | undefined => {
    const { http } = request
    if (namesStateless(http)) return methodNotAllowed('POST')
    const session = findSession(sessions, request)
    if (isRefusal(session)) return session
    const refused = checkVersion(http)
    if (refused !== undefined) return refused
    sessions.end(headerOf(http.headers, SESSION_HEADER) ?? '', session)
    writeHead(http, 200, ['content-length', '0'])
    http.raw.end()
    return undefined
  }

  const orRefuse =
    (handle: (request: ServerRequest) => Refusal | undefined) =>
    (request: ServerRequest): void => {
      const refused = handle(request)
      if (refused !== undefined) writeRefusal(request.http, refused)
    }

  return { post, get: orRefuse(get), delete: orRefuse(remove) }
}

export const methodNotAllowed = (allowed: string): Refusal => ({
  ...refusal(405, ERROR.transport, 'Method not allowed'),
  headers: ['allow', allowed],
})
