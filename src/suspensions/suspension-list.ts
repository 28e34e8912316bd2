import type { Database } from '../lib/db/client.ts'
import type { EventBus } from '../lib/events/event-bus.ts'
import { createListeners } from '../lib/events/listeners.ts'
import type { Suspensions } from '../lib/kernel/suspensions.ts'
import { withoutRootDot } from '../lib/outbound/target.ts'
import type { Logger } from '../lib/process/logger.ts'
import { readAllReasons } from './suspensions.store.ts'

/** Pause before the list is read again after that has failed. */
const RETRY_MS = 1_000

export type SuspensionListParts = { db: Database; bus: EventBus; logger: Pick<Logger, 'warn'> }

/**
 * Keeps the reasons of everything that is suspended in memory, so that each request can be checked without the database,
 * also while it is unreachable. Operators suspend little, so the list is small.
 */
export const createSuspensionList = async ({ db, bus, logger }: SuspensionListParts) => {
  const changes = createListeners<[]>()
  let reasons = await readAllReasons(db)
  let started = 0
  let applied = 0
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  const reload = async (): Promise<void> => {
    clearTimeout(timer)
    const turn = ++started
    try {
      const read = await readAllReasons(db)
      // A read that began later has seen later changes.
      if (turn < applied) return
      applied = turn
      reasons = read
      changes.notify()
    } catch (error) {
      if (isClosed) return
      logger.warn({ err: error }, 'could not read what is suspended')
      clearTimeout(timer)
      timer = setTimeout(() => void reload(), RETRY_MS).unref()
    }
  }
  const unsubscribe = [bus.subscribe('suspensions_changed', reload), bus.subscribe('resync', reload)]

  const suspensions: Suspensions = {
    ofUser: userId => reasons.users.get(userId),
    ofOrganization: organizationId => reasons.organizations.get(organizationId),
    ofServer: serverId => reasons.servers.get(serverId),
    ofOrigin: origin => (reasons.origins.size === 0 ? undefined : reasons.origins.get(withoutRootDot(origin))),
  }
  return {
    suspensions,
    /** Called after something was suspended or restored, here or in another process. */
    onChange: changes.add,
    close: (): void => {
      isClosed = true
      clearTimeout(timer)
      for (const end of unsubscribe) end()
    },
  }
}
