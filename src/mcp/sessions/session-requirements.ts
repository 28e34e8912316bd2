import type { Caller } from '../execution/index.ts'
import { type Refusal, refusal } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { headerOf } from './headers.ts'
import type { Mounted } from './mounted.ts'
import { ERROR, findSessionVersion, SESSION_VERSIONS } from './protocol.ts'
import type { Session, Sessions } from './sessions.ts'

export const SESSION_HEADER = 'mcp-session-id'

export const notAcceptable = (types: string): Refusal =>
  refusal(406, ERROR.transport, `Not acceptable: the Accept header must list ${types}`)

/** The version header of the session era: what is sent must be one of its versions (basic/transports). */
export const checkVersion = ({ headers }: Exchange): Refusal | undefined => {
  const version = headerOf(headers, 'mcp-protocol-version')
  if (version === undefined || findSessionVersion(version) !== undefined) return undefined
  const supported = SESSION_VERSIONS.join(', ')
  return refusal(400, ERROR.transport, `Unsupported protocol version: ${version} (supported: ${supported})`)
}

/** The same for an id that is another's, that has ended, or that never was. */
export const SESSION_NOT_FOUND = refusal(404, ERROR.sessionNotFound, 'Session not found')

/** The session a request names, or the reason why there is none; the caller must be the one who began it. */
export const findSession = (
  sessions: Sessions,
  exchange: Exchange,
  { serverId }: Mounted,
  caller: Caller,
): Session | Refusal => {
  const id = headerOf(exchange.headers, SESSION_HEADER)
  if (id === undefined) return refusal(400, ERROR.transport, 'Bad request: the Mcp-Session-Id header is required')
  const session = sessions.use(serverId, id, caller?.userId)
  return session ?? SESSION_NOT_FOUND
}

export const isRefused = (found: Session | Refusal): found is Refusal => 'code' in found
