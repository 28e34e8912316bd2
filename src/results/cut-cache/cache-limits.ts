import { ANSWER_CACHE_MB } from '../../lib/kernel/limits.ts'

/** How long an answer is kept from its last use: a model goes on from it in the same turn, or not at all. */
export const ANSWER_TTL_MS = 5 * 60_000

/** All answers of a process together, in memory and on disk, unless the operator says otherwise: some 25 of the largest. */
const MAX_BYTES = ANSWER_CACHE_MB * 1_024 * 1_024
/** Of one caller; what is larger by itself is not kept. Six of the largest answers that a tool may give. */
const MAX_BYTES_PER_CALLER = 64 * 1_024 * 1_024
/** And never more than this part of all, so that there is room for others. */
const CALLER_SHARE = 1 / 4
/** One large answer a second for as long as each is kept. */
const MAX_ENTRIES_PER_CALLER = 256
/** The cost of finding what to let go grows with it: about a millisecond. */
const MAX_ENTRIES = 4_096
/** Callers with answers at a time. */
const MAX_CALLERS = 1_024
/** Memory for the content of answers; what finds no room there goes to disk. */
const MAX_MEMORY_BYTES = 32 * 1_024 * 1_024
/** What is larger goes to disk whatever room there is: to read it back from there takes a millisecond or two. */
const MAX_BYTES_IN_MEMORY = 256 * 1_024

/** What is said of an answer besides, as JSON in characters: its tool, kind and sizes take some hundred. */
export const MAX_ABOUT_CHARS = 4 * 1_024
/** What an entry costs besides its content: keys, what is said of it, and its places in the maps. */
export const ENTRY_OVERHEAD_BYTES = 1_024

/** Between two looks at what has expired. */
export const SWEEP_EVERY_MS = 60_000
/** A directory that its process has not touched for this long is left over: it does at every look. */
export const ABANDONED_AFTER_MS = 10 * SWEEP_EVERY_MS

/**
 * An answer as it is written to the database, compressed: JSON of 10 MB takes 1 or 2. One statement with this much
 * keeps the event loop for 15 ms. What is larger stays with the process that got it.
 */
const MAX_SHARED_BYTES = 4 * 1_024 * 1_024
/** Answers looked up in the database at once: a burst of ids leaves connections to others. */
export const LOOKUPS_AT_ONCE = 4
/** And those that wait for their turn; more are answered as if there was nothing. */
export const MAX_WAITING_LOOKUPS = 256
/** Of one caller, turns included: who guesses ids by the hundred leaves the queue to others. */
export const MAX_LOOKUPS_PER_CALLER = 16
/** A database that has not said by then whether it has an answer is taken to have none: somebody waits for a call. */
const MAX_LOOKUP_MS = 5_000
/** How long a stop waits for answers to be written, for the replicas that go on. */
export const CLOSE_WAIT_MS = 2_000
/** Rows with this much in each go in one statement when they are over. */
export const ROWS_PER_REMOVAL = 100

export type CacheLimits = {
  ttlMs: number
  maxBytes: number
  maxBytesPerCaller: number
  maxEntries: number
  maxEntriesPerCaller: number
  maxCallers: number
  maxMemoryBytes: number
  maxBytesInMemory: number
  maxSharedBytes: number
  maxLookupMs: number
}

/** The limits, with those that are given in place of the usual ones. */
export const toCacheLimits = (given: Partial<CacheLimits> = {}): CacheLimits => {
  const maxBytes = given.maxBytes ?? MAX_BYTES
  return {
    ttlMs: ANSWER_TTL_MS,
    maxBytes,
    maxBytesPerCaller: Math.min(MAX_BYTES_PER_CALLER, maxBytes * CALLER_SHARE),
    maxEntries: MAX_ENTRIES,
    maxEntriesPerCaller: MAX_ENTRIES_PER_CALLER,
    maxCallers: MAX_CALLERS,
    maxMemoryBytes: MAX_MEMORY_BYTES,
    maxBytesInMemory: MAX_BYTES_IN_MEMORY,
    maxSharedBytes: MAX_SHARED_BYTES,
    maxLookupMs: MAX_LOOKUP_MS,
    ...given,
  }
}
