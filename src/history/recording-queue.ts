/** Rows a batch holds at most: more gain nothing. */
const MAX_BATCH_RECORDS = 256
/** Above it a batch ends early: one message must not copy the whole queue. */
const MAX_BATCH_BYTES = 4 * 1_024 * 1_024

/** What a row takes besides its text, in the worker too: measured, rounded up. */
const ROW_OVERHEAD_BYTES = 512
/** Roughly what a waiting row takes in memory, up to two bytes a character. */
const roughBytesOf = (rowText: string): number => ROW_OVERHEAD_BYTES + 2 * rowText.length

export type TakenRows = { rows: string[]; bytes: number }

/**
 * Rows, as texts, that wait to be written, first in, first out, bounded by number and by rough size. What was taken counts
 * towards the bounds until it is released: a slow writer holds it all the same.
 */
export const createRecordingQueue = ({ maxRecords, maxBytes }: { maxRecords: number; maxBytes: number }) => {
  let waiting: string[] = []
  let accepted = 0
  let released = 0
  let heldBytes = 0

  /** How many of the waiting rows make the next batch, and their size; one at least, however large. */
  const measureBatch = (): { length: number; bytes: number } => {
    let bytes = 0
    let length = 0
    for (const row of waiting) {
      const size = roughBytesOf(row)
      if (length === MAX_BATCH_RECORDS || (length > 0 && bytes + size > MAX_BATCH_BYTES)) break
      bytes += size
      length++
    }
    return { length, bytes }
  }

  return {
    /** False when a bound is reached: the row is not kept. */
    push: (row: string): boolean => {
      const bytes = roughBytesOf(row)
      if (accepted - released >= maxRecords || heldBytes + bytes > maxBytes) return false
      accepted++
      heldBytes += bytes
      waiting.push(row)
      return true
    },
    take: (): TakenRows => {
      const { length, bytes } = measureBatch()
      if (length < waiting.length) return { rows: waiting.splice(0, length), bytes }
      const rows = waiting
      waiting = []
      return { rows, bytes }
    },
    release: ({ rows, bytes }: TakenRows): void => {
      released += rows.length
      heldBytes -= bytes
    },
    /** Lets go of all that waits; answers how many that were. */
    drop: (): number => {
      const dropped = waiting.length
      for (const row of waiting) heldBytes -= roughBytesOf(row)
      waiting = []
      released += dropped
      return dropped
    },
    isEmpty: (): boolean => waiting.length === 0,
    hasFullBatch: (): boolean => waiting.length >= MAX_BATCH_RECORDS,
    /** How many were ever accepted, and how many of them are released: the first ones. */
    accepted: (): number => accepted,
    released: (): number => released,
  }
}

export type RecordingQueue = ReturnType<typeof createRecordingQueue>
