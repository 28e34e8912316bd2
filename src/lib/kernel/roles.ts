/** Roles of an organization's members, highest first. */
export const ROLES = ['owner', 'admin', 'builder', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/**
 * The roles with each permission. `read`: view toolkits, servers and history. `build`: create and change toolkits and
 * servers. `manage`: manage members, invitations and OAuth clients, view the audit log, and delete others' work. `own`:
 * add and remove owners, and delete the organization.
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

/** Returns the permission required to grant, change or remove a role. Only owners may do so for the owner role. */
export const permissionOver = (role: Role): Permission => (role === 'owner' ? 'own' : 'manage')
