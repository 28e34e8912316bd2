import { headerOf } from '../../mcp/headers.ts'
import type { HttpExchange } from '../../mcp/http-exchange.ts'
import { SESSION_HEADER } from '../../mcp/sessions/session-requirements.ts'
import type { CompiledPassthrough } from '../../runtime/call/compiled-passthrough.ts'
import type { Caller } from '../../servers/access/access.ts'
import type { PassthroughRoute } from '../route/passthroughs.ts'
import type { PassedTarget } from '../route/target.ts'
import type { Passage } from './passage.ts'

export type ForwardedRequest = {
  http: HttpExchange
  caller: Caller
  /** Access token of the connected account, if the upstream requires one. */
  token: string | undefined
  passage: Passage
  passthrough: CompiledPassthrough
  route: PassthroughRoute
  target: PassedTarget
  /** All headers except those that depend on the upstream's address. */
  headers: Record<string, string | string[]>
  publicPath: string
  /** Records that the upstream assigned this session id to the caller. */
  claimSession: (id: string) => void
  /** Records the address to which this stream's client posts, until the stream ends. */
  claimAddress: (address: PassedTarget) => void
}

/** Returns the key of a request's session: the session id or, for HTTP+SSE, the address for messages. */
export const sessionOf = ({ http, route, target }: Pick<ForwardedRequest, 'http' | 'route' | 'target'>) =>
  route.isSse ? `${target.suffix}${target.search}` : headerOf(http.headers, SESSION_HEADER)
