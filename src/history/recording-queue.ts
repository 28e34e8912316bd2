import type { ExecutionRecord } from './execution-record.ts'
import { type ExecutionRow, toExecutionRow } from './execution-row.ts'

/** Maximum number of rows per batch. Larger batches bring no benefit. */
const MAX_BATCH_ROWS = 256
/**
 * Size at which a batch ends. The batch still includes the row that reaches this size. Limiting the number of rows is
 * not enough, because some requests are large.
 */
const MAX_BATCH_BYTES = 1_024 * 1_024
/** Size of a row without its strings. */
const ROW_BYTES = 100

const sizeOf = (row: ExecutionRow): number =>
  row.reduce<number>((size, value) => size + (typeof value === 'string' ? value.length : 0), ROW_BYTES)

/**
 * Creates the queue of records for batches, limited by number and size. Records count toward the limits until they are
 * released, because a slow writer still holds them.
 */
export const createRecordingQueue = ({ maxRecords, maxBytes }: { maxRecords: number; maxBytes: number }) => {
  const waiting: ExecutionRow[] = []
  let accepted = 0
  let released = 0
  let heldBytes = 0

  const release = (rows: readonly ExecutionRow[]): void => {
    released += rows.length
    for (const row of rows) heldBytes -= sizeOf(row)
  }

  return {
    /** Adds a record to the queue. Returns false if a limit is reached and the record was not added. */
    push: (record: ExecutionRecord): boolean => {
      if (accepted - released >= maxRecords) return false
      const row = toExecutionRow(record)
      const size = sizeOf(row)
      if (heldBytes + size > maxBytes) return false
      heldBytes += size
      accepted++
      waiting.push(row)
      return true
    },
    /** Removes the next batch from the queue and returns it. The batch is empty if no record is waiting. */
    take: (): ExecutionRow[] => {
      let count = 0
      let size = 0
      for (const row of waiting) {
        if (count === MAX_BATCH_ROWS || size >= MAX_BATCH_BYTES) break
        size += sizeOf(row)
        count++
      }
      return waiting.splice(0, count)
    },
    release,
    /** Drops all waiting records. Returns their number. */
    drop: (): number => {
      const dropped = waiting.splice(0)
      release(dropped)
      return dropped.length
    },
    isEmpty: (): boolean => waiting.length === 0,
    hasFullBatch: (): boolean => waiting.length >= MAX_BATCH_ROWS,
    /** The total number of records accepted so far, and of those released. */
    accepted: (): number => accepted,
    released: (): number => released,
  }
}

export type RecordingQueue = ReturnType<typeof createRecordingQueue>
