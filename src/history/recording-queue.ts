import type { ExecutionRecord } from './execution-record.ts'
import { createRowPages, packRecord, type RowPage } from './packed-rows.ts'

/** Rows a batch holds at most: more at once gain nothing. */
const MAX_BATCH_ROWS = 256

/**
 * Records that wait to be written, first in, first out, packed into pages each of which makes a batch; bounded by number
 * and by size. What was taken counts towards the bounds until it is released: a slow writer holds it all the same.
 */
export const createRecordingQueue = ({ maxRecords, maxBytes }: { maxRecords: number; maxBytes: number }) => {
  const pages = createRowPages()
  const full: RowPage[] = []
  let filling: RowPage | undefined
  let accepted = 0
  let released = 0
  let heldBytes = 0

  const seal = (): void => {
    if (filling !== undefined) full.push(filling)
    filling = undefined
  }

  const add = (packed: string): number => {
    const taken = filling?.add(packed) ?? 0
    if (taken > 0) return taken
    seal()
    filling = pages.open(packed)
    return filling.add(packed)
  }

  const release = (page: RowPage): void => {
    const { bytes, count } = page.rows()
    released += count
    heldBytes -= bytes.length
    pages.release(page)
  }

  return {
    /** False when a bound is reached: the record is not kept. */
    push: (record: ExecutionRecord): boolean => {
      if (accepted - released >= maxRecords) return false
      const packed = packRecord(record)
      if (heldBytes + packed.length > maxBytes) return false
      heldBytes += add(packed)
      accepted++
      if (filling?.count() === MAX_BATCH_ROWS) seal()
      return true
    },
    /** The next batch; undefined where nothing waits. */
    take: (): RowPage | undefined => {
      if (full.length === 0) seal()
      return full.shift()
    },
    release,
    /** Lets go of all that waits; answers how many that were. */
    drop: (): number => {
      seal()
      const before = released
      for (const page of full.splice(0)) release(page)
      return released - before
    },
    isEmpty: (): boolean => full.length === 0 && filling === undefined,
    hasFullBatch: (): boolean => full.length > 0,
    /** How many were ever accepted, and how many of them are released: the first ones. */
    accepted: (): number => accepted,
    released: (): number => released,
  }
}

export type RecordingQueue = ReturnType<typeof createRecordingQueue>
