import { acceptsEventStream, acceptsJson, headerOf } from '../headers.ts'
import type { HttpExchange } from '../http-exchange.ts'
import { ERROR, findSessionVersion, SESSION_VERSIONS } from '../protocol.ts'
import { type Refusal, refusal } from '../rpc-response.ts'
import type { ServerRequest } from '../server-request.ts'
import type { Session } from './session.ts'
import type { Sessions } from './sessions.ts'

export const SESSION_HEADER = 'mcp-session-id'

export const notAcceptable = (types: string): Refusal =>
  refusal(406, ERROR.transport, `Not acceptable: the Accept header must list ${types}`)

/** Checks that the client accepts both content types that a response to a POST can have. */
export const checkAccept = ({ headers }: HttpExchange): Refusal | undefined =>
  acceptsJson(headers) && acceptsEventStream(headers)
    ? undefined
    : notAcceptable('application/json and text/event-stream')

/** Checks the version header of the session era (basic/transports). */
export const checkVersion = ({ headers }: HttpExchange): Refusal | undefined => {
  const version = headerOf(headers, 'mcp-protocol-version')
  if (version === undefined || findSessionVersion(version) !== undefined) return undefined
  const supported = SESSION_VERSIONS.join(', ')
  return refusal(400, ERROR.transport, `Unsupported protocol version: ${version} (supported: ${supported})`)
}

/** The response for unknown ids, ended sessions and other callers' sessions alike. */
export const SESSION_NOT_FOUND = refusal(404, ERROR.sessionNotFound, 'Session not found')

/** Returns the session that the request names, or a refusal. Only the caller who started a session may use it. */
export const findSession = (
  sessions: Sessions,
  { http, mounted: { serverId }, caller }: ServerRequest,
): Session | Refusal => {
  const id = headerOf(http.headers, SESSION_HEADER)
  if (id === undefined) return refusal(400, ERROR.transport, 'Bad request: the Mcp-Session-Id header is required')
  const session = sessions.use(serverId, id, caller?.userId)
  return session ?? SESSION_NOT_FOUND
}
