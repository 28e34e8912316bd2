import { mayRole, permissionOver, ROLES, type Role } from '../kernel/index.ts'

const WORDS: Readonly<Record<Role, string>> = {
  owner: 'Owner: everything, other owners too',
  admin: 'Admin: members, invitations, audit, and all that builders may',
  builder: 'Builder: makes and changes toolkits and servers',
  viewer: 'Viewer: looks at everything, changes nothing',
}

/** Roles that somebody of this role may give, as options, strongest first. */
export const roleOptionsFor = (role: Role): { value: Role; text: string }[] =>
  ROLES.filter(given => mayRole(role, permissionOver(given))).map(given => ({ value: given, text: WORDS[given] }))
