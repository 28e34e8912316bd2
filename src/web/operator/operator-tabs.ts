/** The operator's pages, in tab order. */
export const OPERATOR_TABS = [
  { href: '/operator', text: 'Health' },
  { href: '/operator/users', text: 'Accounts' },
  { href: '/operator/settings', text: 'Settings' },
  { href: '/operator/audit', text: 'Audit' },
] as const
