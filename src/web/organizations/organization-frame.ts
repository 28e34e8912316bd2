import type { Actor } from '../../lib/kernel/actor.ts'
import { mayRole, type Role } from '../../lib/kernel/roles.ts'
import type { OrganizationService } from '../../tenancy/organizations.service.ts'

/** `manages`: shown only to users who can manage the organization. */
const TABS = [
  { tab: 'members', text: 'Members' },
  { tab: 'invitations', text: 'Invitations', manages: true },
  { tab: 'usage', text: 'Usage' },
  { tab: 'audit', text: 'Audit', manages: true },
  { tab: 'settings', text: 'Settings', manages: true },
] as const
export type OrganizationTab = (typeof TABS)[number]['tab']

/** Data of the frame around each tab of an organization's page. */
export type OrganizationFrame = {
  id: string
  path: string
  name: string
  /** The viewer's role. */
  role: Role
  mayManage: boolean
  mayOwn: boolean
  isOneOfSeveral: boolean
  tabs: readonly { href: string; text: string; isCurrent: boolean }[]
}

export const organizationPath = (id: string, tab: OrganizationTab): string => `/organizations/${id}/${tab}`

/** Path of the page that removes a member, or lets the user leave if it is their own ID. */
export const memberRemovalPath = (id: string, userId: string): string =>
  `${organizationPath(id, 'members')}/${userId}/removal`

/** Returns the frame for the actor. Throws `not_found` if they are not a member. */
export const getOrganizationFrame = async (
  organizations: Pick<OrganizationService, 'getOrganization'>,
  actor: Actor,
  id: string,
  current: OrganizationTab,
): Promise<OrganizationFrame> => {
  const { name, role } = await organizations.getOrganization(actor, id)
  const mayManage = mayRole(role, 'manage')
  return {
    id,
    path: `/organizations/${id}`,
    name,
    role,
    mayManage,
    mayOwn: mayRole(role, 'own'),
    isOneOfSeveral: actor.memberships.size > 1,
    tabs: TABS.filter(entry => mayManage || !('manages' in entry)).map(({ tab, text }) => ({
      href: organizationPath(id, tab),
      text,
      isCurrent: tab === current,
    })),
  }
}
