import { AccountError } from '../connection/index.ts'
import { EVERYBODY } from '../oauth/account.ts'
import { NAMELESS } from '../oauth/account-words.ts'
import { isPerCaller, type ResolvedConfig } from '../upstream.ts'
import type { AccountsOfConnections } from '../upstream-connections.ts'

/** The account that requests go by, of an upstream that asks for authorization. */
export type WayAccount = {
  /** The token for a caller, who may have no name. Throws UpstreamError, with what is to be done. */
  getToken: (userId: string | undefined) => Promise<string>
  /** After this token was refused: the next request shows another one, if there is one. Never rejects. */
  renewSoon: (userId: string | undefined, refused: string) => void
  /** Throws AccountError where there is no account any more that is good. */
  assertConnected: (userId: string | undefined) => Promise<void>
}

type Parts = {
  upstreamId: string
  config: ResolvedConfig & { url: string }
  accounts: Pick<AccountsOfConnections, 'authorizerOf' | 'assertConnected'>
}

/** Undefined where nothing but the configured headers goes along. */
export const createWayAccount = ({ upstreamId, config, accounts }: Parts): WayAccount | undefined => {
  if (config.auth.type === 'none') return undefined
  const { url } = config
  const holderOf = (userId: string | undefined): string => {
    if (!isPerCaller(config)) return EVERYBODY
    if (userId === undefined) throw new AccountError(NAMELESS, undefined)
    return userId
  }
  const authorizerOf = (userId: string | undefined) => accounts.authorizerOf(upstreamId, holderOf(userId))
  return {
    getToken: async userId => authorizerOf(userId).getToken(url),
    renewSoon: (userId, refused) => {
      const renew = async (): Promise<unknown> => authorizerOf(userId).renewToken(url, refused)
      // What is wrong with the account is told with the next request.
      renew().catch(() => {})
    },
    assertConnected: async userId => accounts.assertConnected(upstreamId, holderOf(userId)),
  }
}
