import { type Actor, AppError, type FieldError } from '../kernel/index.ts'
import type { Transaction } from '../platform/db/index.ts'
import { findMember, findOldestOwnerBut, listMembershipsOf } from './members.store.ts'
import type { Member } from './organization.ts'
import { assertNotTheOnly, type Tenancy } from './removal.ts'

/** For each organization that one alone owns: it goes too, or the id of the member who owns it from then on. */
export type Decisions = Readonly<Record<string, string>>
export const REMOVE = 'remove'

type Named = { id: string; name: string }

/** What becomes of each organization of somebody who goes; servers go to the heir. */
export type Step =
  | { kind: 'remove'; organization: Named }
  | { kind: 'leave'; organization: Named; heir: Member; isNewOwner: boolean }

const pathOf = (organizationId: string): string => `organizations.${organizationId}`

const assertAllDecided = (undecided: readonly Named[]): void => {
  if (undecided.length === 0) return
  const errors: FieldError[] = undecided.map(({ id, name }) => ({
    path: pathOf(id),
    message: `"${name}" has no other owner: say "${REMOVE}", or the id of the member who owns it from now on`,
  }))
  const names = undecided.map(({ name }) => `"${name}"`).join(', ')
  throw new AppError('conflict', `You are the only owner of ${names}: say what becomes of it.`, { errors })
}

const assertNothingElseDecided = (decisions: Decisions, alone: readonly Named[]): void => {
  const others = Object.keys(decisions).filter(id => !alone.some(organization => organization.id === id))
  if (others.length === 0) return
  throw new AppError('invalid_request', 'Only of organizations that you alone own can you say what becomes of them.', {
    errors: others.map(id => ({ path: pathOf(id), message: 'is no organization that you alone own' })),
  })
}

const planOf = async (tx: Transaction, actor: Actor, organization: Named, decision: string): Promise<Step> => {
  if (decision === REMOVE) return { kind: 'remove', organization }
  const heir = decision === actor.userId ? undefined : await findMember(tx, organization.id, decision)
  if (heir !== undefined) return { kind: 'leave', organization, heir, isNewOwner: true }
  throw new AppError('invalid_request', `Only another member can own "${organization.name}" from now on.`, {
    errors: [{ path: pathOf(organization.id), message: 'is no other member' }],
  })
}

/**
 * What becomes of the actor's organizations. Throws `conflict`, naming them, while one that they alone own is
 * undecided, and `invalid_request` for a decision that is not theirs or cannot be.
 */
export const planDeletion = async (
  tx: Transaction,
  actor: Actor,
  decisions: Decisions,
  tenancy: Tenancy,
): Promise<Step[]> => {
  const steps: Step[] = []
  const alone: Named[] = []
  for (const { organizationId: id, name } of await listMembershipsOf(tx, actor.userId)) {
    const heir = await findOldestOwnerBut(tx, id, actor.userId)
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
