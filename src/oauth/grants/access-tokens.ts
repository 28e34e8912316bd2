import { createTokenVerifier } from '../../identity/tokens/token-verifier.ts'
import type { Database } from '../../lib/db/client.ts'
import type { DatabaseHealth } from '../../lib/db/health.ts'
import type { EventBus } from '../../lib/events/event-bus.ts'
import { MCP_SCOPES, type McpScope } from '../../lib/kernel/mcp-scopes.ts'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import type { Logger } from '../../lib/process/logger.ts'
import type { McpPrincipal } from '../../servers/access/access.ts'
import { findIssuedToken, type IssuedToken } from './access-tokens.store.ts'
import { noteGrantUse } from './grants.store.ts'

/** 256 random bits in base64url, as the authorization server creates them. JWTs do not match. */
const OPAQUE_TOKEN = /^[\w-]{43}$/

type TokenHolder = McpPrincipal & { expiresAt: Date; grantId: string }

const scopesOf = (scope: string): ReadonlySet<McpScope> => {
  const named = scope.split(' ')
  return new Set(MCP_SCOPES.filter(known => named.includes(known)))
}

const toHolder = (issued: IssuedToken): TokenHolder => {
  const { audience: _, scope, ...holder } = issued
  const scopes = scopesOf(scope)
  return { ...holder, limitedTo: scopes.size === MCP_SCOPES.length ? undefined : scopes, isForMcp: true }
}

export type OAuthTokensParts = {
  db: Database
  databaseHealth: Pick<DatabaseHealth, 'whileReachable'>
  bus: EventBus
  logger: Pick<Logger, 'warn'>
  baseUrl: string
  now?: () => number
}

/**
 * Verifies access tokens issued by the authorization server. Each token is valid for one server until it expires or is
 * revoked. Results are cached for a few seconds. The cache is cleared when the user's access changes.
 */
export const createOAuthTokens = ({ db, databaseHealth, bus, logger, baseUrl, now = Date.now }: OAuthTokensParts) =>
  createTokenVerifier<TokenHolder>({
    bus,
    isToken: text => OPAQUE_TOKEN.test(text),
    find: async tokenHash => {
      const issued = await databaseHealth.whileReachable(() => findIssuedToken(db, tokenHash))
      // The audience differs, for example, if the token was issued when the installation had another address.
      if (issued === undefined || issued.audience !== serverUrl(baseUrl, issued.serverId)) return undefined
      return toHolder(issued)
    },
    idOf: ({ grantId }) => grantId,
    writeUse: (grantId, usedAt) => noteGrantUse(db, grantId, usedAt),
    onError: error => logger.warn({ err: error }, 'could not record the use of a grant'),
    now,
  })
