import type { IncomingMessage } from 'node:http'
import { MCP_SCOPES, type McpScope } from '../lib/kernel/mcp-scopes.ts'
import { serverUrl, urlEndingOf } from '../lib/kernel/server-url.ts'
import type { HttpExchange } from './http-exchange.ts'
import { ERROR } from './protocol.ts'
import { type Refusal, refusal } from './rpc-response.ts'

/** Matches the Bearer scheme. A header with another scheme is not an attempt to send a token (RFC 6750 §3.1). */
const BEARER = /^bearer(?: |$)/i

/** Returns the URL as the client sent it. If Fastify has removed a slash from `url`, it keeps the original. */
const urlAsSent = (incoming: IncomingMessage & { originalUrl?: string }): string =>
  incoming.originalUrl ?? incoming.url ?? ''

/**
 * Builds refusals for requests whose token is missing, is invalid or lacks a scope. The refusals tell clients how to
 * get a token (RFC 6750 §3, RFC 9728 §5.1). The metadata must name the URL that the client uses (RFC 9728 §3.3), so its
 * own URL has the same origin, which `originOf` returns for a Host header, and the same ending.
 */
export const createChallenges = (originOf: (host: string | undefined) => string) => {
  const challenge = (http: HttpExchange, scopes: readonly McpScope[], error?: string): string[] => {
    const { headers, serverId, incoming } = http
    const wellKnown = `${originOf(headers.host)}/.well-known/oauth-protected-resource`
    const metadata = `${serverUrl(wellKnown, serverId.toLowerCase())}${urlEndingOf(urlAsSent(incoming))}`
    const parameters = `resource_metadata="${metadata}", scope="${scopes.join(' ')}"`
    return ['www-authenticate', error === undefined ? `Bearer ${parameters}` : `Bearer error="${error}", ${parameters}`]
  }
  return {
    /** Asks for both scopes, because many clients never request more later. */
    invalidToken: (http: HttpExchange): Refusal => {
      const wasTried = BEARER.test(http.headers.authorization ?? '')
      return {
        ...refusal(401, ERROR.transport, 'Unauthorized: this server needs a valid access token'),
        headers: challenge(http, MCP_SCOPES, wasTried ? 'invalid_token' : undefined),
      }
    },
    /** `scopes` lists every scope that the token should have. */
    insufficientScope: (http: HttpExchange, scopes: readonly McpScope[]): Refusal => ({
      ...refusal(403, ERROR.transport, `Forbidden: this request needs a token with the scope ${scopes.join(' ')}`),
      headers: challenge(http, scopes, 'insufficient_scope'),
    }),
  }
}
export type Challenges = ReturnType<typeof createChallenges>
