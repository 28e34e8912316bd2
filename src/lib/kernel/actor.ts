import { AppError } from './errors.ts'
import { mayRole, type Permission, type Role } from './roles.ts'

/** What a personal access token may be used for; a signed-in session has all of them. */
export const SCOPES = ['read', 'write', 'mcp'] as const
export type Scope = (typeof SCOPES)[number]

/** Who makes a request, as its one preHandler found out; routes and services never look a role up themselves. */
export type Actor = {
  userId: string
  email: string
  isOperator: boolean
  scopes: ReadonlySet<Scope>
  /** When the token that the request came with ends; a session has none. */
  expiresAt?: Date
  /** Role by organization id. What is in no other organization exists for this actor. */
  memberships: ReadonlyMap<string, Role>
  /** The network address that the request comes from; the command line has none. */
  address?: string
}

/** Organizations whose things the actor may see: goes into the `where` of every query. */
export const organizationIdsOf = (actor: Actor): string[] => [...actor.memberships.keys()]

/**
 * Refuses what the actor's role in the organization does not allow.
 * Throws `not_found` where the actor is no member (as if it did not exist), `forbidden` where the role is too weak.
 */
export const assertMay = (actor: Actor, organizationId: string, permission: Permission): void => {
  const role = actor.memberships.get(organizationId)
  if (role === undefined) throw new AppError('not_found', 'There is no such organization.')
  if (!mayRole(role, permission)) {
    throw new AppError('forbidden', `Your role in this organization, ${role}, does not allow this.`)
  }
}

const NO_ORGANIZATION = 'You belong to no organization: make one, or ask to be invited to one.'
const SEVERAL_ORGANIZATIONS = 'You belong to several organizations: say which with organizationId.'

/**
 * The organization something new goes into: the one named, or the only one the actor belongs to.
 * Throws `invalid_request` when none is named and it is not clear which.
 */
export const organizationForNew = (actor: Actor, organizationId: string | undefined): string => {
  const chosen = organizationId ?? (actor.memberships.size === 1 ? organizationIdsOf(actor)[0] : undefined)
  if (chosen === undefined) {
    const why = actor.memberships.size === 0 ? NO_ORGANIZATION : SEVERAL_ORGANIZATIONS
    throw new AppError('invalid_request', why, {
      errors: [{ path: 'organizationId', message: 'is needed by who belongs to more or less than one organization' }],
    })
  }
  assertMay(actor, chosen, 'build')
  return chosen
}
