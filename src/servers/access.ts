import { failure, type Result, success } from '../kernel/index.ts'
import type { AccessTier, Server } from './server.ts'

/** Who may use a server; one value, held against every request under /s/:uuid. */
export type AccessPolicy = {
  serverId: string
  tier: AccessTier
  organizationId: string
  ownerId: string
  allowedUserIds: ReadonlySet<string>
}

/** The user behind a token. */
export type McpPrincipal = {
  userId: string
  tokenId: string
  organizationIds: ReadonlySet<string>
  /** Whether the token has the scope `mcp`. */
  isForMcp: boolean
}

/** Without a token nobody in particular calls a public server. */
export type Caller = { userId: string; tokenId: string } | undefined

export type AccessRefusal = 'unauthenticated' | 'forbidden'

export const policyOf = (server: Server): AccessPolicy => ({
  serverId: server.id,
  tier: server.access,
  organizationId: server.organizationId,
  ownerId: server.ownerId,
  allowedUserIds: new Set(server.allowedUserIds),
})

const isLetIn = (policy: AccessPolicy, { userId, organizationIds }: McpPrincipal): boolean => {
  switch (policy.tier) {
    case 'public':
      return true
    case 'organization':
      return organizationIds.has(policy.organizationId)
    case 'private':
      return userId === policy.ownerId || policy.allowedUserIds.has(userId)
  }
}

export type VerifyMcpToken = (token: string) => McpPrincipal | undefined | Promise<McpPrincipal | undefined>

/** From `Authorization: Bearer …` (RFC 6750 §2.1). */
const BEARER = /^Bearer +(\S+) *$/i

/**
 * The one access check of /s/:uuid, by tier and token. Answers at once where the token is known,
 * so that a call need not wait for a promise.
 */
export const createServerAccess = (verifyToken: VerifyMcpToken) => {
  const judge = (policy: AccessPolicy, principal: McpPrincipal | undefined): Result<Caller, AccessRefusal> => {
    // A public server is open to whoever holds a token that is good for nothing, too.
    const isOpen = policy.tier === 'public'
    if (principal === undefined) return isOpen ? success(undefined) : failure('unauthenticated')
    if (!principal.isForMcp) return isOpen ? success(undefined) : failure('forbidden')
    return isLetIn(policy, principal)
      ? success({ userId: principal.userId, tokenId: principal.tokenId })
      : failure('forbidden')
  }
  return (
    policy: AccessPolicy,
    authorization: string | undefined,
  ): Result<Caller, AccessRefusal> | Promise<Result<Caller, AccessRefusal>> => {
    const token = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
    if (token === undefined) return policy.tier === 'public' ? success(undefined) : failure('unauthenticated')
    const principal = verifyToken(token)
    return principal instanceof Promise ? principal.then(found => judge(policy, found)) : judge(policy, principal)
  }
}
