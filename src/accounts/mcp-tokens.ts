import { LRUCache } from 'lru-cache'
import { hashToken, isToken } from './credentials.ts'
import type { TokenHolder } from './tokens.store.ts'

/** How long a token is taken for good without asking the database, where no event says otherwise. */
const FRESH_MS = 5_000
const MAX_CACHED = 10_000

/** Who calls an MCP server with a personal access token. */
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

/** Verifies tokens for `/s/:uuid`, from memory where one was seen in the last seconds. */
export const createMcpTokens = ({ findHolder, noteUse, now }: McpTokensParts) => {
  const cache = new LRUCache<string, { caller: McpCaller; freshUntil: number }>({ max: MAX_CACHED })
  // Counts what was forgotten: an answer that the database gave before may be out of date already.
  let forgotten = 0

  const load = async (tokenHash: string): Promise<McpCaller | undefined> => {
    const forgottenBefore = forgotten
    const holder = await findHolder(tokenHash)
    if (holder === undefined) return undefined
    const { token, memberships } = holder
    if (token.expiresAt.getTime() <= now()) return undefined
    const organizationIds = new Set(memberships.keys())
    const { id: tokenId, userId, scopes, expiresAt } = token
    const caller = { userId, tokenId, organizationIds, isForMcp: scopes.includes('mcp'), expiresAt }
    if (forgotten === forgottenBefore) cache.set(tokenHash, { caller, freshUntil: now() + FRESH_MS })
    noteUse(caller.tokenId)
    return caller
  }

  return {
    /** Answers at once for a token that is in memory. undefined: no token of ours, or expired. */
    verify: (token: string): McpCaller | undefined | Promise<McpCaller | undefined> => {
      if (!isToken(token)) return undefined
      const tokenHash = hashToken(token)
      const cached = cache.get(tokenHash)
      if (cached === undefined || cached.freshUntil <= now()) return load(tokenHash)
      if (cached.caller.expiresAt.getTime() <= now()) return undefined
      noteUse(cached.caller.tokenId)
      return cached.caller
    },
    forgetUser: (userId: string): void => {
      forgotten++
      for (const [tokenHash, { caller }] of cache.entries()) if (caller.userId === userId) cache.delete(tokenHash)
    },
    forgetAll: (): void => {
      forgotten++
      cache.clear()
    },
  }
}
