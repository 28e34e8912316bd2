import { randomUUID } from 'node:crypto'
import { type Database, type Transaction, transact } from '../db/client.ts'
import type { DatabaseTarget } from '../db/target.ts'
import { DomainEvent } from './domain-event.ts'
import type { ErrorLog, EventBus } from './event-bus.ts'
import type { FeedListener } from './feed.ts'
import { createPostgresFeed } from './postgres-feed.ts'
import { createSqliteFeed } from './sqlite-feed.ts'

export type Announce = (event: DomainEvent) => void

type ChangesLog = ErrorLog & { warn: (details: object, message: string) => void }

export type ChangesOptions = {
  db: Database
  target: DatabaseTarget
  bus: EventBus
  logger: ChangesLog
  /** Stores the announced events for receivers outside, in the same transaction. */
  enter?: (tx: Transaction, events: readonly DomainEvent[]) => Promise<void>
}

const withoutRepeats = (events: readonly DomainEvent[]): readonly DomainEvent[] => [
  ...new Map(events.map(event => [JSON.stringify(event), event])).values(),
]

/** Connects the bus to the other processes that use the same database. Resolves once the bus receives their events. */
export const createChanges = async ({ db, target, bus, logger, enter }: ChangesOptions) => {
  const origin = randomUUID()
  const underWay = new Set<Promise<void>>()
  const publish = (event: DomainEvent): void => {
    const telling = bus.publish(event).finally(() => underWay.delete(telling))
    underWay.add(telling)
  }
  const listener: FeedListener = {
    onEvent: event => {
      const parsed = DomainEvent.safeParse(event)
      if (parsed.success) publish(parsed.data)
      // During an update, another process may run a newer version.
      else logger.warn({ event }, 'received an unknown event from another process')
    },
    onMissed: () => publish({ type: 'resync' }),
    onTrouble: error => logger.warn({ err: error }, 'changes made by other processes may appear late'),
  }
  const feed =
    target.kind === 'sqlite'
      ? createSqliteFeed(target, origin, listener)
      : await createPostgresFeed(target, origin, listener)

  return {
    /**
     * Runs `work` in a transaction. If the transaction commits, publishes the events that `work` announced. When
     * `commit` resolves, the listeners in this process have finished. Listeners in other processes are called within
     * 500 ms.
     */
    commit: async <T>(work: (tx: Transaction, announce: Announce) => Promise<T>): Promise<T> => {
      let announced: readonly DomainEvent[] = []
      const value = await transact(db, async tx => {
        const events: DomainEvent[] = [] // new for each attempt
        const result = await work(tx, event => events.push(event))
        announced = withoutRepeats(events)
        if (announced.length > 0) {
          await enter?.(tx, announced)
          await feed.send(tx, announced)
        }
        return result
      })
      await Promise.all(announced.map(event => bus.publish(event)))
      return value
    },
    /** Stops receiving events and waits for running listeners to finish. */
    close: async (): Promise<void> => {
      await feed.close()
      await Promise.all(underWay)
    },
  }
}

export type Changes = Awaited<ReturnType<typeof createChanges>>
