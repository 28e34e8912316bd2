import { accountFrame } from '../accounts/index.ts'
import { type FormPage, formatCount } from '../platform/http/index.ts'
import type { DeletionPreview } from './account-deletion.service.ts'
import { REMOVE } from './deletion-plan.ts'

type Previewed = DeletionPreview['organizations'][number]

/** Where errors say what becomes of an organization; the field of the form for it has another name. */
export const decisionPath = (organizationId: string): string => `organizations.${organizationId}`
export const decisionField = (organizationId: string): string => `organization-${organizationId}`

const holdingsOf = ({ servers, toolkits }: Previewed): string =>
  `${formatCount(servers, 'server')} and ${formatCount(toolkits, 'toolkit')}`

const toDecision = (organization: Previewed, typed: string) => ({
  field: decisionField(organization.id),
  name: organization.name,
  holdings: holdingsOf(organization),
  typed,
  errorPath: decisionPath(organization.id),
  options: [
    { value: '', text: 'Choose…' },
    ...organization.otherMembers.map(({ userId, email, role }) => ({
      value: userId,
      text: `${email} owns it from then on (${role} now)`,
    })),
    { value: REMOVE, text: `It is deleted, with ${holdingsOf(organization)}` },
  ],
})

export type DeletionTyped = { decisions: Readonly<Record<string, string>>; confirm: string }

/** What goes with an account, what stays, and what has to be said first. */
export const toDeletionPage = (
  { organizations, servers, refusal }: DeletionPreview,
  { hasPassword, email, typed }: { hasPassword: boolean; email: string; typed: DeletionTyped },
): FormPage => {
  const undecided = organizations.filter(({ mustDecide }) => mustDecide)
  const nameOf = (id: string): string => organizations.find(one => one.id === id)?.name ?? 'an organization'
  return {
    view: 'organizations/account-deletion',
    data: {
      ...accountFrame('deletion'),
      section: 'account',
      refusal,
      email,
      hasPassword,
      confirm: typed.confirm,
      decisions: undecided.map(one => toDecision(one, typed.decisions[one.id] ?? '')),
      leaves: organizations.filter(({ mustDecide }) => !mustDecide).map(({ name }) => name),
      passing: servers.flatMap(({ name, organizationId, passesTo }) =>
        passesTo === undefined ? [] : [{ name, organization: nameOf(organizationId), to: passesTo.email }],
      ),
    },
    labels: {
      password: 'password',
      confirm: 'address',
      ...Object.fromEntries(undecided.map(({ id }) => [decisionPath(id), 'choice'])),
    },
  }
}
