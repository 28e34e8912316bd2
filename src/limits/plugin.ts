import type { OpenDatabase } from '../lib/db/client.ts'
import type { DatabaseHealth } from '../lib/db/health.ts'
import type { Changes } from '../lib/events/changes.ts'
import type { EventBus } from '../lib/events/event-bus.ts'
import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Logger } from '../lib/process/logger.ts'
import { createCallAdmission } from './call-admission.ts'
import { createFloods } from './floods.ts'
import { createLimitEvents } from './limit-events.ts'
import { createLimitUses, removeOldUses } from './limit-uses.store.ts'
import { createLimitService } from './limits.service.ts'
import { listLimitsInForce } from './limits.store.ts'
import { createMeters, type LimitLevel } from './meters.ts'

export type LimitsNeeds = {
  db: OpenDatabase
  databaseHealth: Pick<DatabaseHealth, 'whileReachable'>
  changes: Changes
  bus: EventBus
  logger: Logger
  /** Replaces the clocks of the database and the process, in milliseconds since 1970. */
  limitClock?: (() => number) | undefined
}

/** Loads the limits of all organizations, and keeps them up to date. */
export const limitsPlugin = async (needs: LimitsNeeds, lifecycle: Lifecycle) => {
  const { db, databaseHealth, changes, bus, logger, limitClock } = needs
  const uses = createLimitUses(db, limitClock)
  const events = createLimitEvents({ db, logger })
  // Closed after the meters, which count the last calls then.
  lifecycle.onClose(events.settle)
  const onLevel = (reached: LimitLevel): void => {
    const { limit, target, period, level } = reached
    const { id: limitId, organizationId, scope, unit, amount } = limit
    const message = level === 'reached' ? 'a limit is reached' : 'a limit is nearly reached'
    logger.info({ limitId, organizationId, scope, target, unit, amount, period }, message)
    events.enter(reached)
  }
  const clock = limitClock ?? (() => performance.now())
  const meters = createMeters({ uses, databaseHealth, onLevel, clock })
  lifecycle.onClose(meters.close)
  const floods = createFloods(clock)
  const callAdmission = createCallAdmission(meters, floods.note)
  const load = async (organizationId?: string): Promise<void> =>
    callAdmission.replace(await listLimitsInForce(db, organizationId), organizationId)
  let loading: Promise<void> = Promise.resolve()
  /** One after the other: a read that began before a change must not be applied after one that has seen it. */
  const reload = (organizationId?: string): Promise<void> => {
    loading = loading.catch(() => undefined).then(() => load(organizationId))
    return loading
  }
  bus.subscribe('limits_changed', ({ organizationId }) => reload(organizationId))
  bus.subscribe('resync', () => reload())
  await reload()
  lifecycle.addChores({ name: 'remove old uses of limits', run: signal => removeOldUses(db, new Date(), signal) })
  return {
    callAdmission,
    floods,
    limits: createLimitService({ db, changes, uses, meters, now: limitClock ?? Date.now }),
  }
}
