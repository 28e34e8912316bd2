import { acceptsEventStream, headerOf } from '../headers.ts'
import { type HttpExchange, writeHead } from '../http-exchange.ts'
import { ERROR, isStatelessVersion } from '../protocol.ts'
import { isRefusal, type Refusal, refusal } from '../rpc-response.ts'
import { orRefuse, type ServerRequest } from '../server-request.ts'
import { checkVersion, findSession, notAcceptable, SESSION_HEADER } from '../sessions/session-requirements.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { CheckRoom } from './listen.ts'
import type { SessionStreams } from './session-streams.ts'

type SessionHttpOptions = { sessions: Sessions; streams: SessionStreams; checkRoom: CheckRoom }

/** Returns whether the request belongs to the stateless era, which does not use GET or DELETE. */
const namesStateless = ({ headers }: HttpExchange): boolean => {
  const version = headerOf(headers, 'mcp-protocol-version')
  return version !== undefined && isStatelessVersion(version)
}

/**
 * Handles `/s/:uuid` requests with GET, which opens a session's notification stream, and DELETE, which ends the
 * session.
 */
export const createSessionHttp = ({ sessions, streams, checkRoom }: SessionHttpOptions) => {
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

  return { get: orRefuse(get), delete: orRefuse(remove) }
}

export const methodNotAllowed = (allowed: string): Refusal => ({
  ...refusal(405, ERROR.transport, 'Method not allowed'),
  headers: ['allow', allowed],
})
