import { isToken } from '../credentials.ts'
import { createRecentTokens } from './recent-tokens.ts'
import type { TokenHolder } from './tokens.store.ts'

/** A caller of an MCP server, identified by a personal access token. */
export type McpCaller = {
  userId: string
  tokenId: string
  organizationIds: ReadonlySet<string>
  /** Whether the token has the scope `mcp`. */
  isForMcp: boolean
  expiresAt: Date
}

export type McpTokensParts = {
  findHolder: (tokenHash: string) => Promise<TokenHolder | undefined>
  noteUse: (tokenId: string) => void
  now: () => number
}

const toCaller = ({ token, memberships }: TokenHolder): McpCaller => ({
  userId: token.userId,
  tokenId: token.id,
  organizationIds: new Set(memberships.keys()),
  isForMcp: token.scopes.includes('mcp'),
  expiresAt: token.expiresAt,
})

/** Verifies personal access tokens for `/s/:uuid`. */
export const createMcpTokens = ({ findHolder, noteUse, now }: McpTokensParts) =>
  createRecentTokens<McpCaller>({
    isToken,
    find: async tokenHash => {
      const holder = await findHolder(tokenHash)
      return holder && toCaller(holder)
    },
    noteUse: ({ tokenId }) => noteUse(tokenId),
    now,
  })
