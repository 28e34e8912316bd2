import type { FormPage } from '../../lib/http/pages/forms.ts'
import { formatCount } from '../../lib/kernel/format.ts'
import type { DeletionPreview } from '../../tenancy/deletion/account-deletion.service.ts'
import { REMOVE } from '../../tenancy/deletion/deletion-plan.ts'
import { accountFrame } from '../account/account-tabs.ts'

type Previewed = DeletionPreview['organizations'][number]

/** Returns the error path for the decision about an organization. The form field has a different name. */
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
      text: `Transfer to ${email} (${role})`,
    })),
    { value: REMOVE, text: `Delete it with ${holdingsOf(organization)}` },
  ],
})

export type DeletionTyped = { decisions: Readonly<Record<string, string>>; confirm: string }

/** Builds the account deletion page: what is deleted, what is transferred, and what the user must decide. */
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
      confirm: 'email',
      ...Object.fromEntries(undecided.map(({ id }) => [decisionPath(id), 'choice'])),
    },
  }
}
