import type { DomainEvent } from './domain-event.ts'

export type ErrorLog = { error: (details: object, message: string) => void }

/** Creates a bus for the listeners of this process. */
export const createEventBus = ({ logger }: { logger: ErrorLog }) => {
  const listeners = new Map<string, Set<(event: DomainEvent) => void | Promise<void>>>()
  return {
    /** Returns a function that ends the subscription. */
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
     * Resolves when every listener has finished. Never rejects: a failing listener is logged, and the others still run.
     */
    publish: async (event: DomainEvent): Promise<void> => {
      // Iterate over a copy, so that a listener added meanwhile receives only later events.
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
