import type { ExecutionRecord } from './execution-record.ts'
import { type ExecutionRow, toExecutionRow } from './execution-row.ts'

/**
 * Rows as text in memory outside the heap, which the worker reads directly. As objects they would live long enough to
 * be moved to the old generation: half a kilobyte per call to be collected there. Fields are in the order of
 * `EXECUTION_COLUMNS`, each followed by NUL, which none of them contains; null is empty.
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

/** Size of a standard page; a batch of typical requests takes half of it. */
const PAGE_BYTES = 256 * 1_024
/** Free pages to keep: one is filled while another is written. */
const MAX_FREE_PAGES = 2
/** Most bytes that a UTF-16 unit takes in UTF-8. */
const MAX_CHARACTER_BYTES = 3

export type RowPage = {
  /** Returns the bytes taken, or 0 if there is no room; an empty page always has room. */
  add: (packed: string) => number
  rows: () => PackedRows
  count: () => number
  clear: () => void
  isStandard: boolean
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
    isStandard: size === PAGE_BYTES,
  }
}

/** Reuses pages, because memory shared with a thread is released late. */
export const createRowPages = () => {
  const free: RowPage[] = []
  return {
    /** Returns an empty page with room for this record. */
    open: (packed: string): RowPage => {
      const needed = MAX_CHARACTER_BYTES * packed.length
      return needed > PAGE_BYTES ? createPage(needed) : (free.pop() ?? createPage(PAGE_BYTES))
    },
    /** Called once nobody reads the page. */
    release: (page: RowPage): void => {
      page.clear()
      if (page.isStandard && free.length < MAX_FREE_PAGES) free.push(page)
    },
  }
}
