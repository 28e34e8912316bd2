import type { McpScope } from '../../lib/kernel/mcp-scopes.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import type { AccessTier, Server } from '../server.ts'

/** Who may use a server; one value, held against every request under /s/:uuid. */
export type AccessPolicy = {
  serverId: string
  tier: AccessTier
  organizationId: string
  ownerId: string
  allowedUserIds: ReadonlySet<string>
}

/** Who calls; without a token nobody in particular calls a public server. */
export type Caller =
  | {
      userId: string
      tokenId: string
      /** What an application was granted, for longer than one of its tokens lasts. */
      grantId?: string | undefined
      /** When the token ends that lets the caller in. */
      expiresAt?: Date | undefined
      /** The scopes of a token that has not all of them. */
      limitedTo?: ReadonlySet<McpScope> | undefined
    }
  | undefined

/** The user behind a token, whichever kind it is. */
export type McpPrincipal = NonNullable<Caller> & {
  organizationIds: ReadonlySet<string>
  /** Whether the token is for MCP at all: of personal access tokens those with the scope `mcp` are. */
  isForMcp: boolean
  /** The one server that the token is good for (RFC 8707); a personal access token is good for all of its user's. */
  serverId?: string | undefined
}

export type AccessRefusal = 'unauthenticated' | 'forbidden'

export const policyOf = (server: Server): AccessPolicy => ({
  serverId: server.id,
  tier: server.access,
  organizationId: server.organizationId,
  ownerId: server.ownerId,
  allowedUserIds: new Set(server.allowedUserIds),
})

/** The tiers: whether a user may use a server, whatever they show for it. */
export const isLetIn = (
  policy: AccessPolicy,
  { userId, organizationIds }: Pick<McpPrincipal, 'userId' | 'organizationIds'>,
): boolean => {
  switch (policy.tier) {
    case 'public':
      return true
    case 'organization':
      return organizationIds.has(policy.organizationId)
    case 'private':
      return userId === policy.ownerId || policy.allowedUserIds.has(userId)
  }
}

/** Answers at once where the token is known. undefined: no token of ours, or no longer. */
export type VerifyMcpToken = (token: string) => McpPrincipal | undefined | Promise<McpPrincipal | undefined>

/** From `Authorization: Bearer …` (RFC 6750 §2.1). */
const BEARER = /^Bearer +(\S+) *$/i

type Access = Result<Caller, AccessRefusal>

const isForServer = ({ serverId }: McpPrincipal, policy: AccessPolicy): boolean =>
  serverId === undefined || serverId === policy.serverId

/** Open to whoever holds a token that is good for nothing, too; a good one says who calls, and limits nothing. */
const judgePublic = (policy: AccessPolicy, principal: McpPrincipal | undefined): Access => {
  if (principal === undefined || !principal.isForMcp || !isForServer(principal, policy)) return success(undefined)
  return success({ userId: principal.userId, tokenId: principal.tokenId, grantId: principal.grantId })
}

const judge = (policy: AccessPolicy, principal: McpPrincipal | undefined): Access => {
  if (policy.tier === 'public') return judgePublic(policy, principal)
  // A token for another server is as good here as one that nobody gave out (RFC 9068 §4, RFC 8707 §3).
  if (principal === undefined || !isForServer(principal, policy)) return failure('unauthenticated')
  return principal.isForMcp && isLetIn(policy, principal) ? success(principal) : failure('forbidden')
}

/**
 * The one access check of /s/:uuid, by tier and token. Answers at once where the token is known,
 * so that a call need not wait for a promise.
 */
export const createServerAccess =
  (verifyToken: VerifyMcpToken) =>
  (policy: AccessPolicy, authorization: string | undefined): Access | Promise<Access> => {
    const token = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
    if (token === undefined) return judge(policy, undefined)
    const principal = verifyToken(token)
    return principal instanceof Promise ? principal.then(found => judge(policy, found)) : judge(policy, principal)
  }

/** The same check for who is known without a token, such as by the session of a page. Undefined: nobody is. */
export const checkUserAccess = (
  policy: AccessPolicy,
  user: Pick<McpPrincipal, 'userId' | 'organizationIds'> | undefined,
): Access => judge(policy, user && { ...user, tokenId: '', isForMcp: true })
