import { headerOf } from '../../mcp/headers.ts'
import { type HttpExchange, hasDisconnected, writeRefusal } from '../../mcp/http-exchange.ts'
import { ERROR } from '../../mcp/protocol.ts'
import type { PassthroughChecks, PassthroughHandler } from '../../mcp/routes.ts'
import { refusal } from '../../mcp/rpc-response.ts'
import type { ServerRequest } from '../../mcp/server-request.ts'
import { SESSION_HEADER, SESSION_NOT_FOUND } from '../../mcp/sessions/session-requirements.ts'
import type { CompiledPassthrough } from '../../runtime/call/compiled-passthrough.ts'
import { UpstreamError } from '../../upstreams/connection/upstream-error.ts'
import type { ReverseProxy } from '../proxy/reverse-proxy.ts'
import { createAdmitPassage } from './admit-passage.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { createMessageAddresses } from './message-addresses.ts'
import { createPassRequest } from './pass-request.ts'
import { createPassUpgrade } from './pass-upgrade.ts'
import { startPassage } from './passage.ts'
import { buildPassedHeaders, forwardedOrigin } from './request-headers.ts'
import { createSessionOwners } from './session-owners.ts'

export type PassthroughOptions = PassthroughChecks & {
  proxy: ReverseProxy
  baseUrl: string
  maxRequestBytes: number
  /** Returns the value for X-Forwarded-For: the addresses of the client and the proxies. */
  forwardedFor: (incoming: HttpExchange['incoming']) => string
}

/** Methods that do not send messages. */
const READS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS'])

export const createPassthrough = (options: PassthroughOptions): PassthroughHandler => {
  const { baseUrl, watchAccess, isStopping, forwardedFor, report } = options
  const origin = forwardedOrigin(baseUrl)
  const admit = createAdmitPassage(options)
  const owners = createSessionOwners()
  const addresses = createMessageAddresses()
  const passRequest = createPassRequest(options)
  const passUpgrade = createPassUpgrade(options)

  const prepare = (
    request: ServerRequest,
    passthrough: CompiledPassthrough,
    onEnd: (end: () => void) => void,
  ): ForwardedRequest | undefined => {
    const { http, mounted, caller } = request
    const admitted = admit(request, passthrough)
    if (!admitted.ok) {
      writeRefusal(http, admitted.error)
      return undefined
    }
    const { route, target } = admitted.value
    const { serverId } = mounted
    const named = headerOf(http.headers, SESSION_HEADER)
    const isMessage = route.isSse && !READS.has(http.incoming.method)
    const isOwn = named === undefined || !owners.isAnothers(serverId, named, caller)
    if (!isOwn || (isMessage && !addresses.isAllowed(serverId, target, caller))) {
      writeRefusal(http, SESSION_NOT_FOUND)
      return undefined
    }
    const publicPath = `/s/${serverId}`
    const url = `${baseUrl}${publicPath}${target.suffix}`
    const parts = { headers: http.headers, configured: route.headers, forwardedFor: forwardedFor(http.incoming) }
    return {
      http,
      caller,
      token: undefined,
      passage: startPassage({ request, passthrough, url, watchAccess, isStopping, onEnd }),
      passthrough,
      route,
      target,
      headers: buildPassedHeaders({ ...parts, origin, publicPath }),
      publicPath,
      claimSession: id => {
        if (id !== named) owners.claim(serverId, id, caller)
      },
      claimAddress: address => {
        if (!hasDisconnected(http)) http.raw.once('close', addresses.claim(serverId, address, caller))
      },
    }
  }

  /** Adds the access token of the connected account, if the upstream requires one. */
  const authorize = (forwarded: ForwardedRequest, next: () => void): void => {
    const { http, caller, route, headers, passage } = forwarded
    if (route.account === undefined) {
      next()
      return
    }
    const pass = (token: string): void => {
      if (hasDisconnected(http)) return
      headers.authorization = `Bearer ${token}`
      forwarded.token = token
      next()
    }
    const refuse = (error: unknown): void => {
      if (!(error instanceof UpstreamError))
        report(error, 'could not get the access token of an account at an MCP server', http.requestId)
      const why = error instanceof UpstreamError ? error.message : 'The MCP server is unavailable right now.'
      passage.fail(why)
      if (!hasDisconnected(http)) writeRefusal(http, refusal(502, ERROR.transport, why))
    }
    route.account.getToken(caller?.userId).then(pass).catch(refuse)
  }

  return {
    serve: (request, passthrough) => {
      const forwarded = prepare(request, passthrough, end => request.http.raw.on('close', end))
      if (forwarded !== undefined) authorize(forwarded, () => passRequest(forwarded))
    },
    serveUpgrade: (upgrade, request, passthrough) => {
      const forwarded = prepare(request, passthrough, end => upgrade.socket.once('close', end))
      if (forwarded !== undefined) authorize(forwarded, () => passUpgrade(upgrade, forwarded))
    },
  }
}
