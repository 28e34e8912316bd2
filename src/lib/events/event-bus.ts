import type { DomainEvent } from './domain-event.ts'

export type ErrorLog = { error: (details: object, message: string) => void }

/** Creates an event bus for the listeners of this process. */
export const createEventBus = ({ logger }: { logger: ErrorLog }) => {
  const listeners = new Map<string, Set<(event: DomainEvent) => void | Promise<void>>>()
  return {
    /** Subscribes a listener. Returns a function that ends the subscription. */
    subscribe: <Type extends DomainEvent['type']>(
      type: Type,
      listener: (event: Extract<DomainEvent, { type: Type }>) => void | Promise<void>,
    ): (() => void) => {
      const isMine = (event: DomainEvent): event is Extract<DomainEvent, { type: Type }> => event.type === type
      const notify = (event: DomainEvent) => (isMine(event) ? listener(event) : undefined)
      const ofType = listeners.get(type) ?? new Set()
      listeners.set(type, ofType.add(notify))
      return () => {
        ofType.delete(notify)
      }
    },
    /**
     * Calls every listener and resolves when all have finished. Never rejects: if a listener fails, logs the error and
     * still runs the others.
     */
    publish: async (event: DomainEvent): Promise<void> => {
      // Iterates over a copy, so that a listener added during the iteration receives only later events.
      await Promise.all(
        [...(listeners.get(event.type) ?? [])].map(async notify => {
          try {
            await notify(event)
          } catch (error) {
            logger.error({ err: error, event }, 'an event listener failed')
          }
        }),
      )
    },
  }
}

export type EventBus = ReturnType<typeof createEventBus>
