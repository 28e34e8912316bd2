import { type Database, transact } from '../lib/db/client.ts'
import { isUniqueViolation } from '../lib/db/failures.ts'
import type { Logger } from '../lib/process/logger.ts'
import { eventIdOf } from '../outbox/event-id.ts'
import type { EventType } from '../outbox/event-types.ts'
import { enterEvents } from '../outbox/outbox.store.ts'
import { fromStoredAmount } from './limit.ts'
import type { LimitLevel } from './meters.ts'

const TYPES = { warning: 'limit.warning', reached: 'limit.reached' } as const satisfies Record<string, EventType>

const toEvent = ({ limit, target, period, level, used, resetsAt }: LimitLevel) => {
  const { id: limitId, organizationId, scope, unit, amount } = limit
  const data = {
    limitId,
    scope,
    targetId: target === '' ? null : target,
    unit,
    period: limit.period,
    amount: fromStoredAmount(unit, amount),
    used: fromStoredAmount(unit, used),
    resetsAt: resetsAt.toISOString(),
  }
  // Entered once in a period, also if the amount is changed and passed again.
  return { organizationId, type: TYPES[level], data, id: eventIdOf(limitId, target, period, level) }
}

/** Puts into the outbox that a limit is nearly or fully used. Calls do not wait for it. */
export const createLimitEvents = ({ db, logger }: { db: Database; logger: Pick<Logger, 'warn'> }) => {
  const underWay = new Set<Promise<void>>()
  return {
    enter: (level: LimitLevel): void => {
      const entering = transact(db, tx => enterEvents(tx, [toEvent(level)]))
        .catch((error: unknown) => {
          if (isUniqueViolation(error)) return
          logger.warn({ err: error, limitId: level.limit.id }, 'an event of a limit could not be stored')
        })
        .finally(() => underWay.delete(entering))
      underWay.add(entering)
    },
    /** Resolves once everything that was entered is stored. */
    settle: async (): Promise<void> => {
      await Promise.all(underWay)
    },
  }
}
