import { type Actor, mayRole, type Role } from '../kernel/index.ts'
import type { OrganizationService } from './organizations.service.ts'

/** `manages`: for those alone who manage the organization. */
const TABS = [
  { tab: 'members', text: 'Members' },
  { tab: 'invitations', text: 'Invitations', manages: true },
  { tab: 'usage', text: 'Usage' },
  { tab: 'audit', text: 'Audit', manages: true },
  { tab: 'settings', text: 'Settings', manages: true },
] as const
export type OrganizationTab = (typeof TABS)[number]['tab']

/** What stands around each tab of an organization's page. */
export type OrganizationFrame = {
  id: string
  path: string
  name: string
  /** Of who looks. */
  role: Role
  mayManage: boolean
  mayOwn: boolean
  isOneOfSeveral: boolean
  tabs: readonly { href: string; text: string; isCurrent: boolean }[]
}

export const organizationPath = (id: string, tab: OrganizationTab): string => `/organizations/${id}/${tab}`

/** Where a member is removed; of oneself, where one leaves. */
export const memberRemovalPath = (id: string, userId: string): string =>
  `${organizationPath(id, 'members')}/${userId}/removal`

/** The frame for who looks at it; `not_found` where they do not belong to it. */
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
