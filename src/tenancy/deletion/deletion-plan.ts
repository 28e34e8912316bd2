import { listOrganizationsOf } from '../../identity/accounts.store.ts'
import type { Transaction } from '../../lib/db/client.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError, type FieldError } from '../../lib/kernel/errors.ts'
import { findMember, findOldestOtherOwner } from '../members.store.ts'
import type { Member } from '../organization.ts'
import { assertNotTheOnly, type Named, type Tenancy } from './removal.ts'

/** For each solely owned organization, by ID: `REMOVE`, or the user ID of the member who becomes its owner. */
export type Decisions = Readonly<Record<string, string>>
export const REMOVE = 'remove'

/** What happens to an organization when a member's account is deleted. The heir receives the member's servers. */
export type Step =
  | { kind: 'remove'; organization: Named }
  | { kind: 'leave'; organization: Named; heir: Member; isNewOwner: boolean }

const pathOf = (organizationId: string): string => `organizations.${organizationId}`

const assertAllDecided = (undecided: readonly Named[]): void => {
  if (undecided.length === 0) return
  const errors: FieldError[] = undecided.map(({ id, name }) => ({
    path: pathOf(id),
    message: `"${name}" has no other owner: send "${REMOVE}" or the user ID of its new owner`,
  }))
  const names = undecided.map(({ name }) => `"${name}"`).join(', ')
  throw new AppError(
    'conflict',
    `You are the only owner of ${names}. Choose what should happen to ${undecided.length === 1 ? 'it' : 'them'}.`,
    { errors },
  )
}

const assertNothingElseDecided = (decisions: Decisions, alone: readonly Named[]): void => {
  const others = Object.keys(decisions).filter(id => !alone.some(organization => organization.id === id))
  if (others.length === 0) return
  throw new AppError('invalid_request', 'You can decide only about organizations of which you are the only owner.', {
    errors: others.map(id => ({ path: pathOf(id), message: 'is not an organization of which you are the only owner' })),
  })
}

const planOf = async (tx: Transaction, actor: Actor, organization: Named, decision: string): Promise<Step> => {
  if (decision === REMOVE) return { kind: 'remove', organization }
  const heir = decision === actor.userId ? undefined : await findMember(tx, organization.id, decision)
  if (heir !== undefined) return { kind: 'leave', organization, heir, isNewOwner: true }
  throw new AppError('invalid_request', `Only another member can become the owner of "${organization.name}".`, {
    errors: [{ path: pathOf(organization.id), message: 'is not another member' }],
  })
}

/**
 * Plans what happens to the actor's organizations. Throws `conflict`, naming the organizations, if decisions about
 * solely owned organizations are missing. Throws `invalid_request` for superfluous or impossible decisions.
 */
export const planDeletion = async (
  tx: Transaction,
  actor: Actor,
  decisions: Decisions,
  tenancy: Tenancy,
): Promise<Step[]> => {
  const steps: Step[] = []
  const alone: Named[] = []
  for (const { id, name } of await listOrganizationsOf(tx, actor.userId)) {
    const heir = await findOldestOtherOwner(tx, id, actor.userId)
    if (heir === undefined) alone.push({ id, name })
    else steps.push({ kind: 'leave', organization: { id, name }, heir, isNewOwner: false })
  }
  assertNothingElseDecided(decisions, alone)
  assertAllDecided(alone.filter(({ id }) => decisions[id] === undefined))
  for (const organization of alone) {
    const step = await planOf(tx, actor, organization, decisions[organization.id] ?? '')
    if (step.kind === 'remove') await assertNotTheOnly(tx, tenancy, organization.id)
    steps.push(step)
  }
  return steps
}
