import { AppError } from './errors.ts'
import { mayRole, type Permission, type Role } from './roles.ts'
import { assertNotSuspended, type Suspensions } from './suspensions.ts'

/** Scopes of a personal access token. A signed-in session has all of them. */
export const SCOPES = ['read', 'write', 'mcp'] as const
export type Scope = (typeof SCOPES)[number]

/** The authenticated user of a request, with their roles. */
export type Actor = {
  userId: string
  email: string
  isOperator: boolean
  /**
   * Whether anybody could have made the account: it has a password, and nobody has confirmed its email. False if the
   * installation does not deliver email.
   */
  isUnconfirmed: boolean
  scopes: ReadonlySet<Scope>
  /** Expiry time of the request's token; undefined for a session. */
  expiresAt?: Date
  /** Roles by organization id. The actor cannot see anything in other organizations. */
  memberships: ReadonlyMap<string, Role>
  /** The network address of the client; undefined on the command line. */
  address?: string
  /** Suspensions to check. Undefined for requests that only read, because anything suspended can still be read. */
  suspensions?: Suspensions | undefined
}

/** Returns the ids of the actor's organizations, for use in the `where` of queries. */
export const organizationIdsOf = (actor: Actor): string[] => [...actor.memberships.keys()]

/** Returns whether the actor's role in the organization includes the permission. */
export const may = (actor: Actor, organizationId: string, permission: Permission): boolean => {
  const role = actor.memberships.get(organizationId)
  return role !== undefined && mayRole(role, permission)
}

/** Returns the ids of the organizations in which the actor may build. */
export const buildableIdsOf = (actor: Actor): string[] => organizationIdsOf(actor).filter(id => may(actor, id, 'build'))

/**
 * Throws unless the actor's role in the organization includes the permission: `not_found` if the actor is not a member,
 * as if the organization did not exist, and `forbidden` otherwise. Also throws `forbidden` for a change to a suspended
 * organization.
 */
export const assertMay = (actor: Actor, organizationId: string, permission: Permission): void => {
  const role = actor.memberships.get(organizationId)
  if (role === undefined) throw new AppError('not_found', 'This organization does not exist.')
  if (!mayRole(role, permission)) {
    throw new AppError('forbidden', `Your role in this organization (${role}) does not allow this.`)
  }
  if (permission !== 'read') assertNotSuspended('organization', actor.suspensions?.ofOrganization(organizationId))
}

const NO_ORGANIZATION = 'You do not belong to an organization. Create one, or ask to be invited.'
const SEVERAL_ORGANIZATIONS = 'You belong to several organizations. Set organizationId to choose one.'

/**
 * Returns the organization for a new toolkit or server: the requested one, or the actor's only one. Throws
 * `invalid_request` if none is requested and the actor has none or several, and the errors of `assertMay`.
 */
export const organizationForNew = (actor: Actor, organizationId: string | undefined): string => {
  const chosen = organizationId ?? (actor.memberships.size === 1 ? organizationIdsOf(actor)[0] : undefined)
  if (chosen === undefined) {
    const why = actor.memberships.size === 0 ? NO_ORGANIZATION : SEVERAL_ORGANIZATIONS
    throw new AppError('invalid_request', why, {
      errors: [{ path: 'organizationId', message: 'is required unless you belong to exactly one organization' }],
    })
  }
  assertMay(actor, chosen, 'build')
  return chosen
}
