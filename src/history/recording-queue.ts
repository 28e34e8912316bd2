import type { ExecutionRecord } from './execution-record.ts'
import { createRowPages, packRecord, type RowPage } from './packed-rows.ts'

/** Rows per batch; larger batches gain nothing. */
const MAX_BATCH_ROWS = 256

/**
 * Queues records in pages, each of which becomes a batch, bounded by number and size. Records count towards the
 * limits until they are released, because a slow writer still holds them.
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
    /** Returns false if a limit is reached and the record was not queued. */
    push: (record: ExecutionRecord): boolean => {
      if (accepted - released >= maxRecords) return false
      const packed = packRecord(record)
      if (heldBytes + packed.length > maxBytes) return false
      heldBytes += add(packed)
      accepted++
      if (filling?.count() === MAX_BATCH_ROWS) seal()
      return true
    },
    take: (): RowPage | undefined => {
      if (full.length === 0) seal()
      return full.shift()
    },
    release,
    drop: (): number => {
      seal()
      const before = released
      for (const page of full.splice(0)) release(page)
      return released - before
    },
    isEmpty: (): boolean => full.length === 0 && filling === undefined,
    hasFullBatch: (): boolean => full.length > 0,
    /** Numbers of records ever accepted, and of those released. */
    accepted: (): number => accepted,
    released: (): number => released,
  }
}

export type RecordingQueue = ReturnType<typeof createRecordingQueue>
