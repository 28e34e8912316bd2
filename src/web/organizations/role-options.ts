import { mayRole, permissionOver, ROLES, type Role } from '../../lib/kernel/roles.ts'

const WORDS: Readonly<Record<Role, string>> = {
  owner: 'Owner: everything, including managing owners',
  admin: 'Admin: members, invitations, audit log, and everything builders can do',
  builder: 'Builder: creates and changes toolkits and servers',
  viewer: 'Viewer: read-only access',
}

/** Returns the roles that a user with this role may assign, as options, highest first. */
export const roleOptionsFor = (role: Role): { value: Role; text: string }[] =>
  ROLES.filter(given => mayRole(role, permissionOver(given))).map(given => ({ value: given, text: WORDS[given] }))
