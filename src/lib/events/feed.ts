import type { Transaction } from '../db/client.ts'
import type { DomainEvent } from './domain-event.ts'

/** Sends events from one process to the others on the same database. */
export type Feed = {
  /** Sends the events if `tx` commits, and discards them otherwise. */
  send: (tx: Transaction, events: readonly DomainEvent[]) => Promise<void>
  close: () => Promise<void>
}

/**
 * Callbacks of a feed. `onEvent` receives unvalidated events from other processes. `onMissed` is called if events were
 * lost.
 */
export type FeedListener = {
  onEvent: (event: unknown) => void
  onMissed: () => void
  onTrouble: (error: unknown) => void
}
