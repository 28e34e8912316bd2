import { writeAudit } from '../identity/audit/audit.store.ts'
import type { Database, Transaction } from '../lib/db/client.ts'
import type { Changes } from '../lib/events/changes.ts'
import type { IdPage } from '../lib/http/id-paging.ts'
import { type Actor, assertMay } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import { orThrow } from '../lib/kernel/missing.ts'
import { assertStillMay } from '../tenancy/current-role.ts'
import { describeAmount, fromStoredAmount, type Limit, toStoredAmount } from './limit.ts'
import type { LimitUses } from './limit-uses.store.ts'
import { findAmountFault } from './limits.schema.ts'
import * as store from './limits.store.ts'
import type { Meters } from './meters.ts'
import { endOf } from './period.ts'

/** Maximum number of limits of an organization: each call is checked against those that apply to it. */
const MAX_LIMITS = 100
/** Number of uses shown for a limit that each server, tool, user or token has for itself. */
const SHOWN_USES = 5

type Target = { id: string; name: string | undefined }

/** A limit with its use in the current period. Amounts are calls, tokens or the currency. */
export type LimitInUse = Omit<Limit, 'targetId'> & {
  target: Target | undefined
  isEstimated: boolean
  /** The largest first. `target` is undefined for the whole organization. */
  uses: readonly { target: Target | undefined; amount: number }[]
  resetsAt: Date
}

export type LimitInput = Omit<store.NewLimit, 'organizationId'>

export type LimitServiceParts = {
  db: Database
  changes: Changes
  uses: Pick<LimitUses, 'listLargest'>
  meters: Pick<Meters, 'flush'>
  /** Milliseconds since 1970. */
  now: () => number
}

const notFound = (): AppError => new AppError('not_found', 'Limit not found.')

const assertAmount = (unit: Limit['unit'], amount: number): void => {
  const message = findAmountFault(unit, amount)
  if (message !== undefined) {
    throw new AppError('invalid_request', 'The amount is invalid.', { errors: [{ path: 'amount', message }] })
  }
}

const assertTarget = async (tx: Transaction, organizationId: string, { scope, targetId }: LimitInput) => {
  if (targetId === undefined) return
  const [found] = await store.listTargets(tx, organizationId, scope, [targetId])
  if (found !== undefined) return
  throw new AppError(
    'invalid_request',
    `This organization has no ${scope} with this id. Use the id of one that it has.`,
    {
      errors: [{ path: 'targetId', message: `is not the id of a ${scope} of this organization` }],
    },
  )
}

const assertRoom = async (tx: Transaction, limit: store.NewLimit): Promise<void> => {
  const same = await store.findSameLimit(tx, limit)
  if (same !== undefined) {
    throw new AppError('conflict', `There is already such a limit: ${describeAmount(same)}. Change its amount instead.`)
  }
  if ((await store.countLimits(tx, limit.organizationId)) < MAX_LIMITS) return
  throw new AppError(
    'limit_exceeded',
    `This organization has ${MAX_LIMITS} limits, which is the maximum. Delete one first.`,
  )
}

const targetOfAudit = (limit: Limit) => ({ type: 'limit', id: limit.id, name: describeAmount(limit) })

/** Manages the limits of organizations, for their admins. Every replica follows a change within 500 ms. */
export const createLimitService = ({ db, changes, uses, meters, now }: LimitServiceParts) => {
  const withUse = async (limit: Limit): Promise<LimitInUse> => {
    const { targetId, unit, scope, organizationId } = limit
    const largest = await uses.listLargest(limit, now(), SHOWN_USES)
    const ids = [...new Set([...(targetId === undefined ? [] : [targetId]), ...largest.map(({ target }) => target)])]
    const names = new Map(
      (await store.listTargets(db, organizationId, scope, ids)).map(({ id, name }) => [id, name] as const),
    )
    const named = (id: string): Target | undefined => (id === '' ? undefined : { id, name: names.get(id) })
    return {
      ...limit,
      amount: fromStoredAmount(unit, limit.amount),
      target: named(targetId ?? ''),
      isEstimated: unit === 'tokens',
      uses: largest.map(use => ({ target: named(use.target), amount: fromStoredAmount(unit, use.amount) })),
      resetsAt: new Date(endOf(limit.period, now())),
    }
  }

  const getLimit = async (tx: Transaction, organizationId: string, id: string): Promise<Limit> =>
    orThrow(await store.findLimit(tx, organizationId, id), notFound)

  return {
    listLimits: async (actor: Actor, organizationId: string, page: IdPage): Promise<LimitInUse[]> => {
      assertMay(actor, organizationId, 'manage')
      await meters.flush()
      const limits = await store.listLimits(db, organizationId, page)
      return Promise.all(limits.map(withUse))
    },

    getLimit: async (actor: Actor, organizationId: string, id: string): Promise<LimitInUse> => {
      assertMay(actor, organizationId, 'manage')
      await meters.flush()
      return withUse(await getLimit(db, organizationId, id))
    },

    createLimit: async (actor: Actor, organizationId: string, input: LimitInput): Promise<LimitInUse> => {
      const limit = { ...input, organizationId, amount: toStoredAmount(input.unit, input.amount) }
      const made = await changes.commit(async (tx, announce) => {
        await assertStillMay(tx, actor, organizationId, 'manage')
        await assertTarget(tx, organizationId, input)
        await assertRoom(tx, limit)
        const created = await store.createLimit(tx, limit, actor.userId)
        const target = targetOfAudit(created)
        const { scope, targetId = null } = input
        await writeAudit(tx, { action: 'limit.created', actor, organizationId, target, change: { scope, targetId } })
        announce({ type: 'limits_changed', organizationId })
        return created
      })
      return withUse(made)
    },

    /** Changes the amount. What has been used in the current period still counts. */
    updateLimit: async (
      actor: Actor,
      organizationId: string,
      id: string,
      amount: number | undefined,
    ): Promise<LimitInUse> => {
      const changed = await changes.commit(async (tx, announce) => {
        await assertStillMay(tx, actor, organizationId, 'manage')
        const before = await getLimit(tx, organizationId, id)
        if (amount === undefined) return before
        assertAmount(before.unit, amount)
        await store.updateAmount(tx, organizationId, id, toStoredAmount(before.unit, amount))
        const change = { amount: { from: fromStoredAmount(before.unit, before.amount), to: amount } }
        await writeAudit(tx, { action: 'limit.changed', actor, organizationId, target: targetOfAudit(before), change })
        announce({ type: 'limits_changed', organizationId })
        return getLimit(tx, organizationId, id)
      })
      return withUse(changed)
    },

    removeLimit: (actor: Actor, organizationId: string, id: string): Promise<void> =>
      changes.commit(async (tx, announce) => {
        await assertStillMay(tx, actor, organizationId, 'manage')
        const removed = await getLimit(tx, organizationId, id)
        await store.removeLimit(tx, organizationId, id)
        await writeAudit(tx, { action: 'limit.removed', actor, organizationId, target: targetOfAudit(removed) })
        announce({ type: 'limits_changed', organizationId })
      }),
  }
}
export type LimitService = ReturnType<typeof createLimitService>
