import type { Sealing } from '../lib/process/sealing.ts'
import { sealBodies } from './bodies/call-bodies.ts'
import type { CallBodies, ExecutionRecord } from './execution-record.ts'
import { type ExecutionRow, POSITION, toExecutionRow } from './execution-row.ts'
import type { BodiesRow } from './recording-batch.ts'

/** Maximum number of rows per batch. Larger batches bring no benefit. */
const MAX_BATCH_ROWS = 256
/**
 * Size at which a batch ends. The batch still includes the row that reaches this size. Limiting the number of rows is
 * not enough, because some requests are large.
 */
const MAX_BATCH_BYTES = 1_024 * 1_024
/** Share of the memory that bodies may use, so that they do not push out the records of other calls. */
const BODIES_SHARE = 1 / 2
/** Size of a row without its strings. */
const ROW_BYTES = 100

const sizeOf = (row: ExecutionRow): number =>
  row.reduce<number>((size, value) => size + (typeof value === 'string' ? value.length : 0), ROW_BYTES)

const sizeOfBodies = ([, content]: BodiesRow): number => content.length

export type RecordingQueueOptions = { maxRecords: number; maxBytes: number; sealing: Pick<Sealing, 'seal'> }

/**
 * Creates the queue of records for batches, limited by number and size. Records count toward the limits until they are
 * released, because a slow writer still holds them. Bodies are encrypted here, which takes less than a millisecond; they
 * are left out if too many are held already.
 */
export const createRecordingQueue = ({ maxRecords, maxBytes, sealing }: RecordingQueueOptions) => {
  const waiting: ExecutionRow[] = []
  let accepted = 0
  let released = 0
  let heldBytes = 0
  /** Bodies of the records that are held, by execution id, and their part of `heldBytes`. */
  const bodies = new Map<string, BodiesRow>()
  let heldByBodies = 0

  const holdBodies = (id: string, given: CallBodies): void => {
    if (given.request === undefined && given.response === undefined) return
    const { text, keyId } = sealBodies(sealing, id, given)
    const row: BodiesRow = [id, text, keyId]
    const size = sizeOfBodies(row)
    if (heldByBodies + size > maxBytes * BODIES_SHARE || heldBytes + size > maxBytes) return
    heldBytes += size
    heldByBodies += size
    bodies.set(id, row)
  }

  const releaseBodies = (id: string): void => {
    const row = bodies.get(id)
    if (row === undefined) return
    heldBytes -= sizeOfBodies(row)
    heldByBodies -= sizeOfBodies(row)
    bodies.delete(id)
  }

  const bodiesOf = (rows: readonly ExecutionRow[]): BodiesRow[] =>
    bodies.size === 0
      ? []
      : rows.flatMap(row => {
          const own = bodies.get(row[POSITION.id])
          return own === undefined ? [] : [own]
        })

  const release = (rows: readonly ExecutionRow[]): void => {
    released += rows.length
    for (const row of rows) {
      heldBytes -= sizeOf(row)
      releaseBodies(row[POSITION.id])
    }
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
      if (record.bodies !== undefined) holdBodies(record.id, record.bodies)
      return true
    },
    /** Removes the next batch from the queue and returns it. The batch is empty if no record is waiting. */
    take: (): ExecutionRow[] => {
      let count = 0
      let size = 0
      for (const row of waiting) {
        if (count === MAX_BATCH_ROWS || size >= MAX_BATCH_BYTES) break
        const own = bodies.get(row[POSITION.id])
        size += sizeOf(row) + (own === undefined ? 0 : sizeOfBodies(own))
        count++
      }
      return waiting.splice(0, count)
    },
    /** Returns the bodies of those of these records that have some. */
    bodiesOf,
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
