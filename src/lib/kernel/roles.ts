/** Roles of an organization's members, strongest first. */
export const ROLES = ['owner', 'admin', 'builder', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/**
 * What each role may do. One table that the API, the pages and the tests read.
 * `read`: see toolkits, servers, history. `build`: make and change them. `manage`: members, invitations, OAuth clients,
 * the audit log, deletions of others' work. `own`: make and remove owners, remove the organization.
 */
const PERMISSIONS = {
  read: ['owner', 'admin', 'builder', 'viewer'],
  build: ['owner', 'admin', 'builder'],
  manage: ['owner', 'admin'],
  own: ['owner'],
} as const satisfies Record<string, readonly Role[]>

export type Permission = keyof typeof PERMISSIONS

export const mayRole = (role: Role, permission: Permission): boolean =>
  PERMISSIONS[permission].some(allowed => allowed === role)

/** What giving somebody a role takes, and changing or taking away the one they have: owners answer to owners alone. */
export const permissionOver = (role: Role): Permission => (role === 'owner' ? 'own' : 'manage')
