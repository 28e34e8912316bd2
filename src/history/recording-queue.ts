import type { ExecutionRecord } from './execution-record.ts'
import { type ExecutionRow, toExecutionRow } from './execution-row.ts'

/** Rows per batch; larger batches gain nothing. */
const MAX_BATCH_ROWS = 256
/**
 * Size at which a batch ends. The row that reaches it is still included. A row limit alone is not enough, because some
 * requests are large.
 */
const MAX_BATCH_BYTES = 1_024 * 1_024
/** Size of a row without its texts. */
const ROW_BYTES = 100

const sizeOf = (row: ExecutionRow): number =>
  row.reduce<number>((size, value) => size + (typeof value === 'string' ? value.length : 0), ROW_BYTES)

/**
 * Queues records for batches, bounded by number and size. Records count towards the limits until they are released,
 * because a slow writer still holds them.
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
    /** Returns false if a limit is reached and the record was not queued. */
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
    /** Takes the next batch, which is empty if no record waits. */
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
    /** Releases all waiting records. Returns how many there were. */
    drop: (): number => {
      const dropped = waiting.splice(0)
      release(dropped)
      return dropped.length
    },
    isEmpty: (): boolean => waiting.length === 0,
    hasFullBatch: (): boolean => waiting.length >= MAX_BATCH_ROWS,
    /** Total numbers of accepted and released records. */
    accepted: (): number => accepted,
    released: (): number => released,
  }
}

export type RecordingQueue = ReturnType<typeof createRecordingQueue>
