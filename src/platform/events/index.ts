export { type Announce, type Changes, type ChangesOptions, createChanges } from './changes.ts'
export { DomainEvent } from './domain-event.ts'
export { createEventBus, type EventBus } from './event-bus.ts'
