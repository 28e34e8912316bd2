import type { Transaction } from '../db/client.ts'
import type { DomainEvent } from './domain-event.ts'

/** The way of events from one process to the others on the same database. */
export type Feed = {
  /** Sends the events when, and only when, `tx` commits. */
  send: (tx: Transaction, events: readonly DomainEvent[]) => Promise<void>
  close: () => Promise<void>
}

/** What a feed tells of. `onEvent` gets what another process sent, unchecked; `onMissed` says some was lost. */
export type FeedListener = {
  onEvent: (event: unknown) => void
  onMissed: () => void
  onTrouble: (error: unknown) => void
}
