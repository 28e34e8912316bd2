import type { ExecutionRecord } from './execution-record.ts'
import { type ExecutionRow, toExecutionRow } from './execution-row.ts'

/**
 * Rows as text in memory outside of the heap, where the worker reads them. As objects they would wait for longer than
 * what is young is kept, and be copied to what is old: half a kilobyte a call, all of it to be collected there.
 * Fields stand in the order of `EXECUTION_COLUMNS`, each before a NUL, which is in none of them; null is empty.
 */
export type PackedRows = { bytes: Uint8Array; count: number }

export const NO_ROWS: PackedRows = { bytes: new Uint8Array(0), count: 0 }

const FIELD_END = '\0'

export const packRecord = (record: ExecutionRecord): string => toExecutionRow(record).join(FIELD_END) + FIELD_END

export const unpackRows = ({ bytes, count }: PackedRows): ExecutionRow[] => {
  const fields = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().split(FIELD_END)
  let at = 0
  const text = (): string => fields[at++] ?? ''
  const textOrNull = (): string | null => text() || null
  const number = (): number => Number(text())
  const unpackRow = (): ExecutionRow => [
    text(),
    text(),
    textOrNull(),
    text(),
    textOrNull(),
    textOrNull(),
    number(),
    number(),
    text() === 'ok' ? 'ok' : 'error',
    number() || null,
    number(),
    number(),
    textOrNull(),
    textOrNull(),
  ]
  return Array.from({ length: count }, unpackRow)
}

/** Of the usual page: a batch of the usual requests takes half of it. */
const PAGE_BYTES = 256 * 1_024
/** Of those that are free: one is filled while another one is written. */
const MAX_FREE_PAGES = 2
/** Most that a character of a string takes in UTF-8. */
const MAX_CHARACTER_BYTES = 3

export type RowPage = {
  /** Answers the bytes that it takes, none where there is no room for it; in an empty page there is. */
  add: (packed: string) => number
  rows: () => PackedRows
  count: () => number
  clear: () => void
  isUsual: boolean
}

const createPage = (size: number): RowPage => {
  const memory = Buffer.from(new SharedArrayBuffer(size))
  let count = 0
  let used = 0
  return {
    add: packed => {
      if (used + MAX_CHARACTER_BYTES * packed.length > size) return 0
      const taken = memory.write(packed, used)
      used += taken
      count++
      return taken
    },
    rows: () => ({ bytes: memory.subarray(0, used), count }),
    count: () => count,
    clear: () => {
      count = 0
      used = 0
    },
    isUsual: size === PAGE_BYTES,
  }
}

/** Pages are used again: memory that is shared with a thread is given back late. */
export const createRowPages = () => {
  const free: RowPage[] = []
  return {
    /** An empty page with room for this record. */
    open: (packed: string): RowPage => {
      const needed = MAX_CHARACTER_BYTES * packed.length
      return needed > PAGE_BYTES ? createPage(needed) : (free.pop() ?? createPage(PAGE_BYTES))
    },
    /** Nobody reads it any more. */
    release: (page: RowPage): void => {
      page.clear()
      if (page.isUsual && free.length < MAX_FREE_PAGES) free.push(page)
    },
  }
}
