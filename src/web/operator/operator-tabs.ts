/** The operator's pages, in tab order. */
export const OPERATOR_TABS = [
  { href: '/operator', text: 'Health' },
  { href: '/operator/users', text: 'Accounts' },
  { href: '/operator/suspensions', text: 'Suspensions' },
  { href: '/operator/settings', text: 'Settings' },
  { href: '/operator/audit', text: 'Audit' },
] as const

type OperatorPath = (typeof OPERATOR_TABS)[number]['href']

/** Returns the title and the tabs of one of the operator's pages. */
export const frameOf = (path: OperatorPath) => {
  const tabs = OPERATOR_TABS.map(tab => ({ ...tab, isCurrent: tab.href === path }))
  const current = tabs.find(({ isCurrent }) => isCurrent)
  return { title: `${current?.text ?? ''} · Operator`, tabs } as const
}
