import type { Actor } from '../../lib/kernel/actor.ts'
import { buildableIdsOf, may } from '../../lib/kernel/actor.ts'
import { accountFrame } from '../account/account-tabs.ts'
import { OPERATOR_TABS } from '../operator/operator-tabs.ts'
import { organizationPath, organizationTabsFor } from '../organizations/organization-frame.ts'

/** A page or an action of the palette. `note` says what it belongs to. */
export type Destination = { href: string; text: string; note: string }

/** An organization of the user, with their role. */
type Organization = { id: string; name: string }

const MENU: readonly Destination[] = [
  { href: '/servers', text: 'Servers', note: '' },
  { href: '/toolkits', text: 'Toolkits', note: '' },
  { href: '/gallery', text: 'Gallery', note: 'public toolkits' },
  { href: '/organizations', text: 'Organizations', note: '' },
]

/** Lists the pages that the user may open, except those of single objects. */
export const listPages = (actor: Actor, organizations: readonly Organization[]): Destination[] => [
  ...MENU,
  ...organizations.flatMap(({ id, name }) =>
    organizationTabsFor(id, may(actor, id, 'manage')).map(({ href, text }) => ({ href, text, note: name })),
  ),
  ...accountFrame('profile').tabs.map(({ href, text }) => ({ href, text, note: 'Account' })),
  ...(actor.isOperator ? OPERATOR_TABS.map(tab => ({ ...tab, note: 'Operator' })) : []),
]

/** Lists what the user may do, as pages with a form. */
export const listActions = (actor: Actor, organizations: readonly Organization[]): Destination[] => [
  ...(buildableIdsOf(actor).length === 0
    ? []
    : [
        { href: '/servers/new', text: 'New server', note: '' },
        { href: '/toolkits/new-tool', text: 'New tool', note: '' },
        { href: '/toolkits/new', text: 'New toolkit', note: '' },
      ]),
  ...organizations
    .filter(({ id }) => may(actor, id, 'manage'))
    .map(({ id, name }) => ({ href: organizationPath(id, 'invitations'), text: 'Invite a member', note: name })),
  { href: '/account/tokens', text: 'Create an access token', note: 'Account' },
  { href: '/account/security', text: 'Change your password', note: 'Account' },
  { href: '/organizations/new', text: 'New organization', note: '' },
  { href: '/shortcuts', text: 'Keyboard shortcuts', note: '' },
]
