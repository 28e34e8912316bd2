import Papa from 'papaparse'
import type { JsonObject, JsonValue } from '../kernel/json.ts'

/** Number of lines inspected to detect a table whose type is not declared. */
const SNIFFED_LINES = 20
const MIN_LINES = 3
const SNIFFED_CHARACTERS = 20_000
const DELIMITERS = [',', '\t', ';', '|']
/** Maximum number of columns, as in the widest spreadsheets. Each row becomes an object with one member per column. */
const MAX_COLUMNS = 16_384
/** Maximum number of cells, counting every row as wide as the widest row. */
const MAX_CELLS = 6_000_000

type Table = { value: JsonValue[]; notes: readonly string[] }

const isNumeric = (cell: string): boolean => cell.trim() !== '' && Number.isFinite(Number(cell))

/**
 * Matches a column name in a header of only two columns. Prose and logs can also have one comma per line, but mostly
 * after a number or before a blank.
 */
const NAME = /^[\p{L}_][\p{L}\p{N}_ .-]*$/u
const MIN_SURE_COLUMNS = 3

const isSureTable = (header: readonly string[], rows: readonly (readonly string[])[]): boolean =>
  header.length >= MIN_SURE_COLUMNS ||
  (header.length > 1 &&
    header.every(cell => NAME.test(cell)) &&
    rows.every(row => row.every(cell => !/^\s/.test(cell))))

/** Returns whether the first lines have the same number of cells and the header names are unique and not empty. */
export const looksLikeTable = (text: string): boolean => {
  const start = text.slice(0, SNIFFED_CHARACTERS)
  const [header = [], ...rows] = Papa.parse<string[]>(start, {
    preview: SNIFFED_LINES,
    skipEmptyLines: true,
    delimitersToGuess: DELIMITERS,
  }).data
  // The last row may be cut off.
  const whole = start.length < text.length ? rows.slice(0, -1) : rows
  const isHeader = isSureTable(header, whole) && header.every(cell => cell.trim() !== '' && !isNumeric(cell))
  if (!isHeader || new Set(header).size < header.length || whole.length + 1 < MIN_LINES) return false
  return whole.every(row => row.length === header.length)
}

const namesOf = (header: readonly string[]): readonly string[] => {
  const seen = new Map<string, number>()
  return header.map((cell, index) => {
    const name = cell.trim() === '' ? `column ${index + 1}` : cell
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return count === 1 ? name : `${name} (${count})`
  })
}

/**
 * Parses CSV rows as objects of strings whose member names come from the first row. Returns undefined if there are too
 * many columns or cells.
 */
export const parseTable = (text: string, delimiter: string | undefined): Table | undefined => {
  const { data } = Papa.parse<string[]>(text, {
    skipEmptyLines: true,
    delimitersToGuess: DELIMITERS,
    ...(delimiter === undefined ? {} : { delimiter }),
  })
  const [header = [], ...rows] = data
  const widest = rows.reduce((most, row) => Math.max(most, row.length), header.length)
  if (widest > MAX_COLUMNS || widest * rows.length > MAX_CELLS) return undefined
  const names = namesOf(Array.from({ length: widest }, (_, index) => header[index] ?? ''))
  const uneven = rows.filter(row => row.length !== header.length).length
  const value = rows.map(
    (row): JsonObject => Object.fromEntries(row.map((cell, index) => [names[index] ?? '', cell] as const)),
  )
  return { value, notes: uneven > 0 ? [`Rows with a different number of cells than the header: ${uneven}.`] : [] }
}

const isScalar = (value: JsonValue | undefined): value is string | number | boolean | null =>
  typeof value !== 'object' || value === null

/** Renders rows as CSV. Returns undefined if the value is no longer a table. */
export const renderTable = (value: JsonValue): string | undefined => {
  if (!Array.isArray(value)) return undefined
  const columns = new Set<string>()
  const rows: JsonObject[] = []
  for (const row of value) {
    if (typeof row !== 'object' || row === null || Array.isArray(row)) return undefined
    for (const name of Object.keys(row)) {
      if (!isScalar(row[name])) return undefined
      columns.add(name)
    }
    rows.push(row)
  }
  const names = [...columns]
  return Papa.unparse({ fields: names, data: rows.map(row => names.map(name => row[name] ?? '')) }, { newline: '\n' })
}
