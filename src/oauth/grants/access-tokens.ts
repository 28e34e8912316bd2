import { createRecentTokens, createTokenUses } from '../accounts/index.ts'
import { MCP_SCOPES, type McpScope, serverUrl } from '../kernel/index.ts'
import type { Database } from '../platform/db/index.ts'
import type { EventBus } from '../platform/events/index.ts'
import type { Logger } from '../platform/logger.ts'
import type { McpPrincipal } from '../servers/index.ts'
import { findIssuedToken, type IssuedToken } from './access-tokens.store.ts'
import { noteGrantUse } from './grants.store.ts'

/** 256 random bits in base64url, as the authorization server makes them. A JWT, signed or not, is none. */
const OPAQUE_TOKEN = /^[\w-]{43}$/

type TokenHolder = McpPrincipal & { expiresAt: Date; grantId: string }

const scopesOf = (scope: string): ReadonlySet<McpScope> => {
  const named = scope.split(' ')
  return new Set(MCP_SCOPES.filter(known => named.includes(known)))
}

const toHolder = (issued: IssuedToken): TokenHolder => {
  const { id: tokenId, userId, serverId, grantId, expiresAt, organizationIds, scope } = issued
  const scopes = scopesOf(scope)
  const limitedTo = scopes.size === MCP_SCOPES.length ? undefined : scopes
  return { userId, tokenId, serverId, grantId, expiresAt, organizationIds, limitedTo, isForMcp: true }
}

export type OAuthTokensParts = {
  db: Database
  bus: EventBus
  logger: Pick<Logger, 'warn'>
  baseUrl: string
  /** Milliseconds since 1970. */
  now?: () => number
}

/**
 * Verifies the access tokens that the authorization server gives out: each is good for exactly one server, until it
 * expires or is revoked. From memory for a few seconds, which ends at once when the access of its user changes.
 */
export const createOAuthTokens = ({ db, bus, logger, baseUrl, now = Date.now }: OAuthTokensParts) => {
  const uses = createTokenUses({
    write: (grantId, usedAt) => noteGrantUse(db, grantId, usedAt),
    onError: error => logger.warn({ err: error }, 'could not write down when a grant was used'),
    now,
  })
  const tokens = createRecentTokens<TokenHolder>({
    isToken: text => OPAQUE_TOKEN.test(text),
    find: async tokenHash => {
      const issued = await findIssuedToken(db, tokenHash)
      // Of an installation that was reached by another address before, say.
      if (issued === undefined || issued.audience !== serverUrl(baseUrl, issued.serverId)) return undefined
      return toHolder(issued)
    },
    noteUse: ({ grantId }) => uses.note(grantId),
    now,
  })
  const unsubscribe = [
    bus.subscribe('access_changed', ({ userId }) => tokens.forgetUser(userId)),
    bus.subscribe('resync', () => tokens.forgetAll()),
  ]
  return {
    verify: tokens.verify,
    /** Stops listening for changes and writes what is left to write. */
    close: async (): Promise<void> => {
      for (const stop of unsubscribe) stop()
      await uses.settle()
    },
  }
}
