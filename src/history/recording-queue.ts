import type { ExecutionRecord } from './execution-record.ts'
import { roughBytesOf } from './recording-batch.ts'

/** Rows a batch holds at most: packing them keeps the event loop for a tenth of a millisecond, and more gains nothing. */
const MAX_BATCH_RECORDS = 256
/** Above it a batch ends early: one message must not copy the whole queue. */
const MAX_BATCH_BYTES = 4 * 1_024 * 1_024

export type TakenRecords = { records: ExecutionRecord[]; bytes: number }

/**
 * Records that wait to be written, first in, first out, bounded by number and by rough size. What was taken counts
 * towards the bounds until it is released: a slow writer holds it all the same.
 */
export const createRecordingQueue = ({ maxRecords, maxBytes }: { maxRecords: number; maxBytes: number }) => {
  let waiting: ExecutionRecord[] = []
  let accepted = 0
  let released = 0
  let heldBytes = 0

  /** How many of the waiting records make the next batch, and their size; one at least, however large. */
  const measureBatch = (): { length: number; bytes: number } => {
    let bytes = 0
    let length = 0
    for (const record of waiting) {
      const size = roughBytesOf(record)
      if (length === MAX_BATCH_RECORDS || (length > 0 && bytes + size > MAX_BATCH_BYTES)) break
      bytes += size
      length++
    }
    return { length, bytes }
  }

  return {
    /** False when a bound is reached: the record is not kept. */
    push: (record: ExecutionRecord): boolean => {
      const bytes = roughBytesOf(record)
      if (accepted - released >= maxRecords || heldBytes + bytes > maxBytes) return false
      accepted++
      heldBytes += bytes
      waiting.push(record)
      return true
    },
    take: (): TakenRecords => {
      const { length, bytes } = measureBatch()
      if (length < waiting.length) return { records: waiting.splice(0, length), bytes }
      const records = waiting
      waiting = []
      return { records, bytes }
    },
    release: ({ records, bytes }: TakenRecords): void => {
      released += records.length
      heldBytes -= bytes
    },
    /** Lets go of all that waits; answers how many that were. */
    drop: (): number => {
      const dropped = waiting.length
      for (const record of waiting) heldBytes -= roughBytesOf(record)
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
