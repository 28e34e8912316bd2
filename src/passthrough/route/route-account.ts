import type { AccountsOfConnections } from '../../upstreams/connection/upstream-connections.ts'
import { AccountError } from '../../upstreams/connection/upstream-error.ts'
import { EVERYBODY } from '../../upstreams/oauth-client/account.ts'
import { CALLER_UNKNOWN } from '../../upstreams/oauth-client/account-messages.ts'
import { isPerCaller, type ResolvedConfig } from '../../upstreams/upstream.ts'

/** The connected account of an upstream that requires authorization. */
export type RouteAccount = {
  /**
   * Returns the token for a caller, who may be anonymous. On failure, throws an UpstreamError whose message tells the
   * caller what to do.
   */
  getToken: (userId: string | undefined) => Promise<string>
  /** Refreshes a rejected token, so that the next request uses a new one. Never rejects. */
  renewSoon: (userId: string | undefined, refused: string) => void
  /** Throws AccountError if no valid account is connected. */
  assertConnected: (userId: string | undefined) => Promise<void>
}

type Parts = {
  upstreamId: string
  config: ResolvedConfig & { url: string }
  accounts: Pick<AccountsOfConnections, 'authorizerOf' | 'assertConnected'>
}

/** Returns undefined if the upstream needs only the configured headers. */
export const createRouteAccount = ({ upstreamId, config, accounts }: Parts): RouteAccount | undefined => {
  if (config.auth.type === 'none') return undefined
  const { url } = config
  const holderOf = (userId: string | undefined): string => {
    if (!isPerCaller(config)) return EVERYBODY
    if (userId === undefined) throw new AccountError(CALLER_UNKNOWN, undefined)
    return userId
  }
  const authorizerOf = (userId: string | undefined) => accounts.authorizerOf(upstreamId, holderOf(userId))
  return {
    getToken: async userId => authorizerOf(userId).getToken(url),
    renewSoon: (userId, refused) => {
      const renew = async (): Promise<unknown> => authorizerOf(userId).renewToken(url, refused)
      // Ignores errors, because the next request reports the problem with the account.
      renew().catch(() => {})
    },
    assertConnected: async userId => accounts.assertConnected(upstreamId, holderOf(userId)),
  }
}
