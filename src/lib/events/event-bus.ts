import type { DomainEvent } from './domain-event.ts'

/** What the bus needs of a logger. */
export type ErrorLog = { error: (details: object, message: string) => void }

export type EventBus<Event extends { type: string } = DomainEvent> = {
  /** Answers the function that ends the subscription. */
  subscribe: <Type extends Event['type']>(
    type: Type,
    listener: (event: Extract<Event, { type: Type }>) => void | Promise<void>,
  ) => () => void
  /** Resolves when every listener is done. Never rejects: a listener that fails is logged, and the others still run. */
  publish: (event: Event) => Promise<void>
}

/** Tells the listeners of this process, and of this bus alone. */
export const createEventBus = <Event extends { type: string } = DomainEvent>({
  logger,
}: {
  logger: ErrorLog
}): EventBus<Event> => {
  const listeners = new Map<string, Set<(event: Event) => void | Promise<void>>>()
  return {
    subscribe: (type, listener) => {
      const isMine = (event: Event): event is Extract<Event, { type: typeof type }> => event.type === type
      const hear = (event: Event) => (isMine(event) ? listener(event) : undefined)
      const ofType = listeners.get(type) ?? new Set()
      listeners.set(type, ofType.add(hear))
      return () => {
        ofType.delete(hear)
      }
    },
    publish: async event => {
      // A copy: who subscribes while it is told hears of the next one.
      await Promise.all(
        [...(listeners.get(event.type) ?? [])].map(async hear => {
          try {
            await hear(event)
          } catch (error) {
            logger.error({ err: error, event }, 'a listener failed')
          }
        }),
      )
    },
  }
}
