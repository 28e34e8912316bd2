/** The account pages, in tab order. Some of them are implemented in other folders. */
const TABS = [
  { tab: 'profile', href: '/account', text: 'Profile' },
  { tab: 'security', href: '/account/security', text: 'Password and two-factor' },
  { tab: 'tokens', href: '/account/tokens', text: 'Access tokens' },
  { tab: 'applications', href: '/account/applications', text: 'Applications' },
  { tab: 'upstreams', href: '/account/upstreams', text: 'Connected accounts' },
  { tab: 'identities', href: '/account/identities', text: 'External sign-in' },
  { tab: 'sessions', href: '/account/sessions', text: 'Sessions' },
  { tab: 'organizations', href: '/account/organizations', text: 'Organizations' },
  { tab: 'deletion', href: '/account/deletion', text: 'Delete' },
] as const

export type AccountTab = (typeof TABS)[number]['tab']

/** Returns the title and tabs for views that use the `layouts/account` layout. */
export const accountFrame = (current: AccountTab) => ({
  title: `${TABS.find(({ tab }) => tab === current)?.text ?? ''} · Account`,
  tabs: TABS.map(({ tab, href, text }) => ({ href, text, isCurrent: tab === current })),
})
