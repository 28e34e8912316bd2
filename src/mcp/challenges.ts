import { MCP_SCOPES, type McpScope } from '../kernel/index.ts'
import { errorAnswer, refusal } from './answer.ts'
import { type Exchange, writeAnswer, writeRefusal } from './exchange.ts'
import type { RequestId } from './message.ts'
import { ERROR } from './protocol.ts'

/** A scheme that is not ours is no attempt with a token (RFC 6750 §3.1). */
const BEARER = /^bearer(?: |$)/i

/** Answers requests whose token does not do, with what a client needs to get one that does (RFC 6750 §3, RFC 9728 §5.1). */
export const createChallenges = (baseUrl: string) => {
  const fieldsFor = ({ serverId }: Exchange, scopes: readonly McpScope[], error?: string): string[] => {
    const metadata = `${baseUrl}/.well-known/oauth-protected-resource/s/${serverId.toLowerCase()}`
    const asked = `resource_metadata="${metadata}", scope="${scopes.join(' ')}"`
    return ['www-authenticate', error === undefined ? `Bearer ${asked}` : `Bearer error="${error}", ${asked}`]
  }
  return {
    /** Both scopes are asked for: many clients never step up. */
    refuseToken: (exchange: Exchange): void => {
      const wasTried = BEARER.test(exchange.headers.authorization ?? '')
      const why = refusal(401, ERROR.transport, 'Unauthorized: this server needs a valid access token')
      writeRefusal(exchange, why, fieldsFor(exchange, MCP_SCOPES, wasTried ? 'invalid_token' : undefined))
    },
    /** `scopes` are all that the token should have. */
    refuseScope: (exchange: Exchange, id: RequestId | null, scopes: readonly McpScope[]): void => {
      const why = refusal(403, ERROR.transport, `Forbidden: this needs a token with the scope ${scopes.join(' ')}`)
      writeAnswer(exchange, errorAnswer(id, why), fieldsFor(exchange, scopes, 'insufficient_scope'))
    },
  }
}
export type Challenges = ReturnType<typeof createChallenges>
