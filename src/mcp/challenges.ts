import { MCP_SCOPES, type McpScope } from '../lib/kernel/mcp-scopes.ts'
import type { HttpExchange } from './http-exchange.ts'
import { ERROR } from './protocol.ts'
import { type Refusal, refusal } from './rpc-response.ts'

/** Matches the Bearer scheme. A header with another scheme is not an attempt to send a token (RFC 6750 §3.1). */
const BEARER = /^bearer(?: |$)/i

/**
 * Builds refusals for requests whose token is missing, is invalid or lacks a scope. The refusals tell clients how to
 * get a token (RFC 6750 §3, RFC 9728 §5.1).
 */
export const createChallenges = (baseUrl: string) => {
  const challenge = ({ serverId }: HttpExchange, scopes: readonly McpScope[], error?: string): string[] => {
    const metadata = `${baseUrl}/.well-known/oauth-protected-resource/s/${serverId.toLowerCase()}`
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
