import type { Transaction } from '../db/client.ts'
import type { DomainEvent } from './domain-event.ts'

/** Sends events from one process to the others on the same database. */
export type Feed = {
  /** Sends the events when, and only when, `tx` commits. */
  send: (tx: Transaction, events: readonly DomainEvent[]) => Promise<void>
  close: () => Promise<void>
}

/** Callbacks of a feed. `onEvent` receives events of other processes, unchecked; `onMissed` means that some were lost. */
export type FeedListener = {
  onEvent: (event: unknown) => void
  onMissed: () => void
  onTrouble: (error: unknown) => void
}
