import { hasMembers } from '../../lib/json/path.ts'
import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'

/** Minimum length of a list that is written as a table. */
const MIN_ROWS = 5
/** Number of characters that a table adds to a list: `{"columns":[],"rows":[]}`. */
const FRAME_CHARACTERS = 24

const isTable = (value: JsonObject): boolean => {
  const keys = Object.keys(value)
  return keys.length === 2 && keys.includes('columns') && keys.includes('rows')
}

/** Returns whether the value contains something that could be confused with our tables. */
const holdsTable = (value: JsonValue): boolean => {
  if (Array.isArray(value)) return value.some(holdsTable)
  return hasMembers(value) && (isTable(value) || Object.values(value).some(holdsTable))
}

/** Returns the member names if all items have the same ones and a table is shorter. Otherwise returns undefined. */
const columnsOf = (list: readonly JsonValue[]): string[] | undefined => {
  const [first] = list
  if (list.length < MIN_ROWS || !hasMembers(first)) return undefined
  const columns = Object.keys(first)
  const isLike = (item: JsonValue): boolean =>
    hasMembers(item) &&
    Object.keys(item).length === columns.length &&
    columns.every(column => Object.hasOwn(item, column))
  // A table writes each name once instead of once per row.
  const saved = (list.length - 1) * columns.reduce((sum, column) => sum + JSON.stringify(column).length + 1, 0)
  return saved > FRAME_CHARACTERS && list.every(isLike) ? columns : undefined
}

const toTables = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) {
    const columns = columnsOf(value)
    if (columns === undefined) return value.map(toTables)
    const rows = value.map(item => (hasMembers(item) ? columns.map(column => toTables(item[column] ?? null)) : []))
    return { columns, rows }
  }
  if (!hasMembers(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toTables(member)]))
}

/**
 * Writes each list of five or more objects with the same members as `{"columns": ["id", …], "rows": [[1, …], …]}`. Only
 * the order of members is lost. Returns undefined if there is no such list, or if the value already contains something
 * that looks like such a table.
 */
export const compactTables = (value: JsonValue): JsonValue | undefined => {
  if (holdsTable(value)) return undefined
  const compact = toTables(value)
  return holdsTable(compact) ? compact : undefined
}
