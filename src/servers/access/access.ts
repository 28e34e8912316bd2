import type { McpScope } from '../../lib/kernel/mcp-scopes.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { mayRole, type Role } from '../../lib/kernel/roles.ts'
import { type Suspensions, suspendedText, suspensionOfServer } from '../../lib/kernel/suspensions.ts'
import type { AccessTier, Server } from '../server.ts'

/** The rules on who may use a server. Checked on every request under /s/:uuid. */
export type AccessPolicy = {
  serverId: string
  tier: AccessTier
  organizationId: string
  ownerId: string
  allowedUserIds: ReadonlySet<string>
}

/** The user who makes a request. Undefined for an anonymous caller of a public server. */
export type Caller =
  | {
      userId: string
      /** Empty for calls from pages and through the management API. */
      tokenId: string
      /** ID of the application's grant, which outlives its access tokens. */
      grantId?: string | undefined
      expiresAt?: Date | undefined
      /** Scopes of the token. Undefined if it has all of them. */
      limitedTo?: ReadonlySet<McpScope> | undefined
    }
  | undefined

/**
 * Returns the id under which the history and limits know the token of a caller: for an application that of its grant,
 * because its access tokens change. Undefined for anonymous callers and for calls from pages, which have no token.
 */
export const tokenIdOf = (caller: Caller): string | undefined =>
  caller && (caller.grantId ?? (caller.tokenId || undefined))

/** A user, with their role in each of their organizations. The actor of a request is one. */
export type User = { userId: string; memberships: ReadonlyMap<string, Role> }

/** The user identified by a token of any kind. */
export type McpPrincipal = NonNullable<Caller> &
  User & {
    /** Whether the token may be used for MCP. A personal access token needs the scope `mcp`. */
    isForMcp: boolean
    /** The only server that the token is valid for (RFC 8707). Undefined if it is valid for all of the user's servers. */
    serverId?: string | undefined
  }

/** `suspended` says what the operator has suspended, and why. */
export type AccessRefusal = 'unauthenticated' | 'forbidden' | { suspended: string }

type Governed = Pick<Server, 'id' | 'access' | 'organizationId' | 'ownerId' | 'allowedUserIds'>

export const policyOf = (server: Governed): AccessPolicy => ({
  serverId: server.id,
  tier: server.access,
  organizationId: server.organizationId,
  ownerId: server.ownerId,
  allowedUserIds: new Set(server.allowedUserIds),
})

/** The calls that a user may see in the history of a server: everybody's, or only their own. */
export type CallsShown = 'all' | 'own'

/**
 * The rule of the tiers, regardless of the token: returns whose calls the user may see, or undefined if they may neither
 * use nor open the server. `openTo` is the same rule as a query. That only members can open a server in the dashboard
 * and the management API is a rule of organizations (`getServerFor`).
 */
const accessOf = (policy: AccessPolicy, { userId, memberships }: User): CallsShown | undefined => {
  const role = memberships.get(policy.organizationId)
  switch (policy.tier) {
    case 'public':
      return 'all'
    case 'organization':
      return role === undefined ? undefined : 'all'
    case 'private':
      if (userId === policy.ownerId || (role !== undefined && mayRole(role, 'manage'))) return 'all'
      return policy.allowedUserIds.has(userId) ? 'own' : undefined
  }
}

export const isAllowed = (policy: AccessPolicy, user: User): boolean => accessOf(policy, user) !== undefined

/** Returns the only caller whose calls the user may see in the history. Undefined if they may see all calls. */
export const onlyCallerShown = (policy: AccessPolicy, user: User): string | undefined =>
  accessOf(policy, user) === 'all' ? undefined : user.userId

/** Verifies a token, without a promise if it is cached. Returns undefined if the token is unknown or revoked. */
export type VerifyMcpToken = (token: string) => McpPrincipal | undefined | Promise<McpPrincipal | undefined>

/** `Authorization: Bearer …` (RFC 6750 §2.1). */
const BEARER = /^Bearer +(\S+) *$/i

type Access = Result<Caller, AccessRefusal>

const isForServer = ({ serverId }: McpPrincipal, policy: AccessPolicy): boolean =>
  serverId === undefined || serverId === policy.serverId

/**
 * Allows everyone, even with an invalid token. A valid token identifies the caller, but its scopes do not limit access.
 */
const judgePublic = (policy: AccessPolicy, principal: McpPrincipal | undefined): Access => {
  if (principal === undefined || !principal.isForMcp || !isForServer(principal, policy)) return success(undefined)
  return success({ userId: principal.userId, tokenId: principal.tokenId, grantId: principal.grantId })
}

const judge = (policy: AccessPolicy, principal: McpPrincipal | undefined): Access => {
  if (policy.tier === 'public') return judgePublic(policy, principal)
  // A token for another server is treated as no token (RFC 9068 §4, RFC 8707 §3).
  if (principal === undefined || !isForServer(principal, policy)) return failure('unauthenticated')
  return principal.isForMcp && isAllowed(policy, principal) ? success(principal) : failure('forbidden')
}

/**
 * Returns the access check of /s/:uuid. Synchronous if the token is cached, so that a call need not wait for a promise.
 * Only those who have access learn that a server is suspended.
 */
export const createServerAccess = (verifyToken: VerifyMcpToken, suspensions: Suspensions) => {
  const judgeSuspended = (policy: AccessPolicy, principal: McpPrincipal | undefined): Access => {
    const ofUser = principal && suspensions.ofUser(principal.userId)
    if (ofUser !== undefined) return failure({ suspended: suspendedText('account', ofUser) })
    const access = judge(policy, principal)
    if (!access.ok) return access
    const suspended = suspensionOfServer(suspensions, policy)
    return suspended === undefined ? access : failure({ suspended })
  }
  return (policy: AccessPolicy, authorization: string | undefined): Access | Promise<Access> => {
    const token = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
    if (token === undefined) return judgeSuspended(policy, undefined)
    const principal = verifyToken(token)
    return principal instanceof Promise
      ? principal.then(found => judgeSuspended(policy, found))
      : judgeSuspended(policy, principal)
  }
}

/**
 * The check of the tiers for a user without a token, for example one signed in to a page. An undefined user is anonymous.
 */
export const checkUserAccess = (policy: AccessPolicy, user: User | undefined): Access =>
  judge(policy, user && { userId: user.userId, memberships: user.memberships, tokenId: '', isForMcp: true })
