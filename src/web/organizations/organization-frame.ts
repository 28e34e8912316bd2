import type { Actor } from '../../lib/kernel/actor.ts'
import { mayRole, permissionOver, ROLES, type Role } from '../../lib/kernel/roles.ts'
import { suspendedText } from '../../lib/kernel/suspensions.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'

/** Tabs with `manages` are shown only to users who can manage the organization. */
const TABS = [
  { tab: 'members', text: 'Members' },
  { tab: 'invitations', text: 'Invitations', manages: true },
  { tab: 'history', text: 'History' },
  { tab: 'usage', text: 'Usage' },
  { tab: 'limits', text: 'Limits', manages: true },
  { tab: 'webhooks', text: 'Webhooks', manages: true },
  { tab: 'audit', text: 'Audit', manages: true },
  { tab: 'settings', text: 'Settings', manages: true },
] as const
export type OrganizationTab = (typeof TABS)[number]['tab']

export const organizationPath = (id: string, tab: OrganizationTab): string => `/organizations/${id}/${tab}`

/** Returns the tabs of an organization's page. */
export const organizationTabsFor = (id: string, mayManage: boolean) =>
  TABS.filter(entry => mayManage || !('manages' in entry)).map(({ tab, text }) => ({
    tab,
    href: organizationPath(id, tab),
    text,
  }))

/** Returns the path of the page that removes a member or, if the ID is the user's own, lets the user leave. */
export const memberRemovalPath = (id: string, userId: string): string =>
  `${organizationPath(id, 'members')}/${userId}/removal`

/** Returns the frame around a tab of an organization's page. Throws `not_found` if the actor is not a member. */
export const getOrganizationFrame = async (
  organizations: Pick<OrganizationService, 'getOrganization'>,
  actor: Actor,
  id: string,
  current: OrganizationTab,
) => {
  const { name, role, suspendedReason } = await organizations.getOrganization(actor, id)
  const mayManage = mayRole(role, 'manage')
  return {
    id,
    path: `/organizations/${id}`,
    name,
    /** Says that the organization is suspended, and why. */
    suspension: suspendedReason === null ? undefined : suspendedText('organization', suspendedReason),
    /** The viewer's role. */
    role,
    mayManage,
    mayOwn: mayRole(role, 'own'),
    isOneOfSeveral: actor.memberships.size > 1,
    tabs: organizationTabsFor(id, mayManage).map(({ tab, ...rest }) => ({ ...rest, isCurrent: tab === current })),
  }
}
export type OrganizationFrame = Awaited<ReturnType<typeof getOrganizationFrame>>

const WORDS: Readonly<Record<Role, string>> = {
  owner: 'Owner: everything, including managing owners',
  admin: 'Admin: members, invitations, audit log, and everything builders can do',
  builder: 'Builder: creates and changes toolkits and servers',
  viewer: 'Viewer: read-only access',
}

/** Returns the roles that a user with this role may assign, as select options, highest role first. */
export const roleOptionsFor = (role: Role): { value: Role; text: string }[] =>
  ROLES.filter(given => mayRole(role, permissionOver(given))).map(given => ({ value: given, text: WORDS[given] }))
